// Real attempts of a confined command that must fail. The same attempts must all succeed without the sandbox: an attempt that fails for
// another reason would prove nothing.

import { createSocket } from 'node:dgram';
import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SandboxBench } from '../../../tests/rigs/sandbox-bench.ts';
import { needs } from '../../../tests/needs.ts';

const confined = needs('bubblewrap');

let bench: SandboxBench;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  bench = new SandboxBench();
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  await bench.dispose();
});

function listen(server: Server, at: { port: number; host: string } | { path: string }): Promise<Server> {
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  return new Promise((resolve) => server.listen(at, () => resolve(server)));
}

/** Every attempt prints `got NAME` if it succeeds. */
async function findEscapes(isConfined: boolean): Promise<string[]> {
  bench.put('notes.txt', 'mine');
  bench.put('.ssh/id_ed25519', 'private-key');
  bench.put('.bashrc', '# mine');
  bench.put('trayclaw/config.yaml', 'secret-config');
  bench.put('trayclaw/workspace/.env', 'KEY=1');
  bench.put('trayclaw/workspace/.bashrc', '# of the project');
  bench.put('trayclaw/workspace/repo/.git/HEAD', 'ref');
  bench.put('trayclaw/workspace/repo/.git/config', '[core]\n');
  mkdirSync(join(bench.workspace, 'repo/.git/hooks'));
  symlinkSync(join(bench.person, '.ssh'), join(bench.workspace, 'link'));
  const hits: string[] = [];
  const tcp = await listen(
    createServer((socket) => {
      hits.push('tcp');
      socket.destroy();
    }),
    { port: 0, host: '127.0.0.1' },
  );
  const local = await listen(
    createServer((socket) => socket.destroy()),
    { path: join(bench.person, 'service.sock') },
  );
  const { port } = tcp.address() as { port: number };
  const udp = createSocket('udp4', () => hits.push('udp'));
  closing.push(() => new Promise((resolve) => udp.close(() => resolve())));
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', () => resolve()));
  const script = `
    const fs = require('node:fs'), net = require('node:net'), dgram = require('node:dgram');
    const attempt = (name, act) => { try { act(); console.log('got ' + name); } catch {} };
    const holds = (path, text) => { if (!fs.readFileSync(path, 'utf8').includes(text)) throw new Error('nothing in it'); };
    attempt('a write beside the workspace', () => fs.writeFileSync('../beside', 'x'));
    attempt('a write to the home folder', () => fs.writeFileSync('${bench.person}/new', 'x'));
    attempt('a start-up file', () => fs.appendFileSync('${bench.person}/.bashrc', 'evil'));
    attempt('a start-up file of the project', () => fs.appendFileSync('.bashrc', 'evil'));
    attempt('a key', () => holds('${bench.person}/.ssh/id_ed25519', 'private-key'));
    attempt('a key through a link', () => holds('link/id_ed25519', 'private-key'));
    attempt('a document', () => holds('${bench.person}/notes.txt', 'mine'));
    attempt("TrayClaw's own data", () => holds('${bench.home}/config.yaml', 'secret-config'));
    attempt('.env', () => holds('.env', 'KEY=1'));
    attempt('.env for writing', () => fs.appendFileSync('.env', 'x'));
    attempt('.env by its removal', () => fs.rmSync('.env'));
    attempt('.env by another name', () => fs.renameSync('.env', 'env'));
    attempt('a hook', () => fs.writeFileSync('repo/.git/hooks/pre-commit', 'x'));
    attempt('a git setting', () => fs.appendFileSync('repo/.git/config', 'x'));
    attempt('a git folder moved aside', () => { fs.renameSync('repo/.git', 'repo/old'); fs.renameSync('repo/old', 'repo/.git'); });
    attempt('a repository moved aside', () => { fs.renameSync('repo', 'old'); fs.renameSync('old', 'repo'); });
    const connected = (name, to) => new Promise((done) => {
      const socket = net.connect(to, () => { console.log('got ' + name); socket.destroy(); done(); });
      socket.on('error', () => done());
    });
    (async () => {
      await connected('a TCP service of this machine', { port: ${port}, host: '127.0.0.1' });
      await connected('a local service', { path: '${local.address() as string}' });
      await new Promise((done) => {
        const socket = dgram.createSocket('udp4');
        socket.send('x', ${udp.address().port}, '127.0.0.1', () => socket.close(done));
      });
    })();`;
  const { output } = await bench.script(script, { attended: !isConfined });
  await new Promise((resolve) => setImmediate(resolve));
  return [...[...output.matchAll(/^got (.*)$/gm)].map((match) => match[1] ?? ''), ...(hits.includes('udp') ? ['a UDP service'] : [])];
}

test('cannot read, write or reach anything outside the policy', confined, async () => {
  expect(await findEscapes(true)).toEqual([]);
});

/** Returns what the command reads through descriptors of a folder that this process has open. */
async function readsByDescriptor(isConfined: boolean): Promise<string> {
  bench.put('notes.txt', 'mine');
  const script = 'for fd in 5 12; do cat "/proc/self/fd/$fd/notes.txt" 2>/dev/null; done; echo end';
  const wrapped = await bench.sandbox.wrap(bench.command('/bin/bash', ['--noprofile', '--norc', '-c', script], { attended: !isConfined }));
  const folder = openSync(bench.person, 'r');
  const descriptors = Array.from({ length: 13 }, (_, at) => (at === 5 || at === 12 ? folder : 'ignore'));
  const stdio = descriptors.map((one, at) => (at === 1 ? 'pipe' : one));
  const child = spawn(wrapped.file, wrapped.args, { cwd: bench.workspace, env: wrapped.environment, stdio });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  closeSync(folder);
  await wrapped.dispose();
  return output;
}

test('inherits no open folder of this program', confined, async () => {
  expect(await readsByDescriptor(true)).toBe('end\n');
});

test('the shell that starts the sandbox runs no start-up file', confined, async () => {
  const file = bench.put('.bashrc', 'echo started\n');
  const wrapped = await bench.sandbox.wrap(bench.command('/bin/echo', ['end']));
  const env = { ...wrapped.environment, HOME: bench.person, BASH_ENV: file };
  // The pipe to a child is a socket, by which bash takes itself for a remote login.
  const child = spawn(wrapped.file, wrapped.args, { cwd: bench.workspace, env });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  await wrapped.dispose();
  expect(output).toBe('end\n');
});

test('without the sandbox, a command reads an open folder by its descriptor', async () => {
  await bench.dispose();
  bench = new SandboxBench({ mode: 'off' });
  expect(await readsByDescriptor(false)).toBe('minemineend\n');
});

test('every attempt succeeds without the sandbox', async () => {
  await bench.dispose();
  bench = new SandboxBench({ mode: 'off' });
  expect(await findEscapes(false)).toEqual([
    'a write beside the workspace',
    'a write to the home folder',
    'a start-up file',
    'a start-up file of the project',
    'a key',
    'a key through a link',
    'a document',
    "TrayClaw's own data",
    '.env',
    '.env for writing',
    '.env by its removal',
    'a hook',
    'a git setting',
    'a git folder moved aside',
    'a repository moved aside',
    'a TCP service of this machine',
    'a local service',
    'a UDP service',
  ]);
});

test('cannot change or create the code that hooks and servers run', confined, async () => {
  bench.put('trayclaw/workspace/hooks/guard.mjs', 'deny');
  bench.programFiles.push(join(bench.workspace, 'hooks/guard.mjs'), join(bench.workspace, 'later.mjs'));
  const { report } = await bench.shell('echo x >hooks/guard.mjs; echo x >later.mjs; echo x >other.mjs');
  expect(readFileSync(join(bench.workspace, 'hooks/guard.mjs'), 'utf8')).toBe('deny');
  expect([bench.has('later.mjs'), bench.has('other.mjs')]).toEqual([false, true]);
  expect(report.remarks.join()).toContain('later.mjs');
});

test('cannot reach the metadata service or the network by any address family', confined, async () => {
  const { output } = await bench.script(`
    const net = require('node:net');
    const tries = [['169.254.169.254', 80], ['10.0.0.1', 80], ['1.1.1.1', 53], ['fd00:ec2::254', 80]];
    for (const [host, port] of tries) net.connect({ host, port }).on('connect', () => console.log('got ' + host)).on('error', (e) => console.log(e.code));`);
  expect(output.trim().split('\n').sort()).toEqual(['ENETUNREACH', 'ENETUNREACH', 'ENETUNREACH', 'ENETUNREACH']);
});

test('opens the workspace and a temporary folder, which is removed afterwards', confined, async () => {
  const line =
    'echo a > made && mkdir sub && mv made sub/ && echo t > $TMPDIR/t && cat $TMPDIR/t && echo h > ~/h && stat -c %a $TMPDIR && rm -r sub && echo done > end';
  const { code, output, report } = await bench.shell(line);
  expect({ code, output, report: report.remarks, end: bench.has('end'), sub: bench.has('sub') }).toEqual({
    code: 0,
    output: 't\n700\n',
    report: [],
    end: true,
    sub: false,
  });
  expect(existsSync(join(bench.person, 'h'))).toBe(false);
});

test('a command has no capability, even for root, and cannot change the kernel', confined, async () => {
  const { output } = await bench.shell(`
    grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'
    now=$(cat /proc/sys/vm/swappiness); (echo $now > /proc/sys/vm/swappiness) 2>/dev/null && echo got the kernel
    (echo $now > /proc/sys/kernel/core_pattern) 2>/dev/null && echo got core dumps
    unshare --user true 2>/dev/null && echo got a user namespace
    mount -t tmpfs none /mnt 2>/dev/null && echo got a mount
    ls /proc | grep -c '^[0-9]'`);
  const [count, ...rest] = output.trim().split('\n').reverse();
  expect(rest.reverse()).toEqual([
    ...['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => `${name}:0000000000000000`),
    'NoNewPrivs:1',
    'Seccomp:2',
  ]);
  // The command sees only its own processes.
  expect(Number(count)).toBeLessThan(10);
});

test('the environment contains only passed names, its own folders and the marker', confined, async () => {
  const environment = {
    PATH: process.env['PATH'] ?? '',
    LANG: 'C',
    LC_TIME: 'C',
    TOKEN: 's3cret',
    LD_PRELOAD: '/x',
    BASH_ENV: '/x',
    NODE_OPTIONS: '--x',
  };
  await bench.dispose();
  bench = new SandboxBench({ environment: ['PATH', 'LC_*', 'WANTED'] }, { environment: { ...environment, WANTED: 'w', OTHER: 'o' } });
  const { output } = await bench.run('/usr/bin/env', [], { environment });
  expect(
    Object.fromEntries(
      output
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    ),
  ).toEqual({
    PATH: environment.PATH,
    LC_TIME: 'C',
    WANTED: 'w',
    HOME: expect.stringMatching(/\/home$/),
    TMPDIR: '/tmp',
    PWD: bench.workspace,
    TRAYCLAW_CALL: 'call-1',
  });
});

test('denies and opens what the person lists, by name and pattern, to read and write', confined, async () => {
  await bench.dispose();
  bench = new SandboxBench({ files: { deny: ['*.pem', 'private', '~/shared/not'], read: ['~/shared'], write: ['~/output'] } });
  for (const path of ['workspace/deep/a.pem', 'workspace/private/p', 'workspace/open']) bench.put(`trayclaw/${path}`, 'text');
  for (const path of ['shared/s', 'shared/not/n', 'output/o', 'other/o']) bench.put(path, 'text');
  const { output } = await bench.script(`
    const fs = require('node:fs');
    const can = (act) => { try { act(); return 'yes'; } catch { return 'no'; } };
    const about = {};
    for (const path of ['deep/a.pem', 'private/p', 'open', '${bench.person}/shared/s', '${bench.person}/shared/not/n', '${bench.person}/output/o', '${bench.person}/other/o'])
      about[path.replace('${bench.person}/', '~/')] = can(() => fs.readFileSync(path)) + '/' + can(() => fs.appendFileSync(path, 'x'));
    console.log(JSON.stringify(about));`);
  expect(JSON.parse(output)).toEqual({
    'deep/a.pem': 'no/no',
    'private/p': 'no/no',
    open: 'yes/yes',
    '~/shared/s': 'yes/no',
    '~/shared/not/n': 'no/no',
    '~/output/o': 'yes/yes',
    '~/other/o': 'no/no',
  });
});

test('moves away hooks, settings and keys in new folders, and fails the call', confined, async () => {
  const { code, report } = await bench.shell(`
    mkdir -p deep/new/.git/hooks && echo evil > deep/new/.git/hooks/post-checkout
    git init -q --bare deep/bare && git -C deep/bare config core.fsmonitor ./evil
    mkdir shape && cd shape && mkdir objects refs hooks && echo x > HEAD && ln -s ../deep hooks/pre-push && cd ..
    echo K=1 > deep/.env; mkdir -p deep/.ssh && echo k > deep/.ssh/authorized_keys; echo evil > deep/.zshrc
    git init -q fine; cp .gitignore-less x 2>/dev/null; echo kept > deep/kept; mkdir -p closed/.git/hooks; echo x > closed/.git/hooks/h; chmod 0 closed; true`);
  expect({ code, failed: report.failed }).toEqual({ code: 0, failed: true });
  const seen = ['deep/new/.git/hooks/post-checkout', 'deep/bare/config', 'shape/hooks/pre-push', 'deep/.env', 'deep/.ssh', 'deep/.zshrc'];
  expect(seen.filter((path) => bench.has(path))).toEqual([]);
  expect(seen.filter((path) => !report.remarks.join('\n').includes(join(bench.workspace, path)))).toEqual([]);
  // Entries that run nothing remain.
  expect(['deep/kept', 'fine/.git/config', 'fine/.git/HEAD'].filter((path) => !bench.has(path))).toEqual([]);
  const folder = /moved to (\S+?)(?:;|$)/.exec(report.remarks[0] ?? '')?.[1] ?? '';
  expect(folder.startsWith(join(bench.home, 'undone'))).toBe(true);
  if (bench.has('closed')) chmodSync(join(bench.workspace, 'closed'), 0o700);
});

test('moves away git pointers to other places; keeps one to a known folder', confined, async () => {
  await bench.shell('git init -q . && git -c user.name=t -c user.email=t@t commit -q --allow-empty -m one');
  const { report } = await bench.shell(`
    git worktree add -q beside; mkdir -p later sub out
    echo ../later/none > .git/commondir; echo 'gitdir: /elsewhere' > sub/.git; ln -s ../none out/.git`);
  expect(['.git/commondir', 'sub/.git', 'out/.git'].filter((path) => bench.has(path))).toEqual([]);
  expect(report.remarks).toHaveLength(3);
  expect(['beside/.git', '.git/worktrees/beside/commondir'].filter((path) => !bench.has(path))).toEqual([]);
});

test('commits, branches and clones do not count as changes of protected places', confined, async () => {
  const git = 'git -c user.name=t -c user.email=t@t -c init.defaultBranch=main';
  writeFileSync(join(bench.workspace, 'a'), 'a');
  const made = await bench.shell(
    `${git} init -q . && ${git} add a && ${git} commit -qm one && ${git} branch two && ${git} clone -q . ../workspace/copy && cat copy/a`,
  );
  expect(made).toEqual({ code: 0, signal: null, output: 'a', report: { remarks: [], failed: false, whenFailed: expect.any(String) } });
  const again = await bench.shell(
    `echo b > a && ${git} commit -qam two && ${git} log --oneline | wc -l && echo '[alias] x = !evil' >> .git/config`,
  );
  expect({ code: again.code, lines: again.output.split('\n')[0], failed: again.report.failed }).toEqual({
    code: 1,
    lines: '2',
    failed: false,
  });
  expect(readFileSync(join(bench.workspace, '.git/config'), 'utf8')).not.toContain('evil');
});
