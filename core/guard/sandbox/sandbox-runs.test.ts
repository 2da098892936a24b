// How confined commands behave: their output and exit codes, limits, many at once, leftovers, domains through the proxy, and machines
// without a sandbox.

import { tmpdir } from 'node:os';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative, sep } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import { SandboxBench, type BenchRun } from '../../../tests/rigs/sandbox-bench.ts';
import { has, needs } from '../../../tests/needs.ts';

const confined = needs('bubblewrap');

let bench: SandboxBench;

beforeEach(() => {
  bench = new SandboxBench();
});
afterEach(() => bench.dispose());

async function reopen(...options: ConstructorParameters<typeof SandboxBench>): Promise<void> {
  await bench.dispose();
  bench = new SandboxBench(...options);
}

const brief = ({ code, signal, output }: BenchRun) => ({ code, signal, output });

test('returns output, errors and exit codes of the command; 128 + n for signal n', confined, async () => {
  expect(brief(await bench.shell('printf "a\\nb"; echo c >&2; exit 7'))).toEqual({
    code: 7,
    signal: null,
    output: expect.stringMatching(/^a\nbc\n$/),
  });
  expect(brief(await bench.shell('kill -TERM $$'))).toEqual({ code: 143, signal: null, output: '' });
  expect(brief(await bench.shell('kill -KILL $$'))).toEqual({ code: 137, signal: null, output: '' });
  expect(brief(await bench.run('/bin/echo', ["it's", '$HOME "q"', 'a\nb', '']))).toEqual({
    code: 0,
    signal: null,
    output: 'it\'s $HOME "q" a\nb \n',
  });
  const large = await bench.script("process.stdout.write('x'.repeat(3_000_000))");
  expect([large.code, large.output.length]).toEqual([0, 3_000_000]);
  expect((await bench.run('/no/such/program', [])).code).toBe(127);
});

test('processes that a command leaves running end with it', confined, async () => {
  const mark = `7${process.pid}`;
  expect((await bench.shell(`(setsid sleep ${mark} >/dev/null 2>&1 &); sleep 0.05; true`)).code).toBe(0);
  const running = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(mark));
  expect(running).toEqual([]);
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    // Ended in the meantime.
    return '';
  }
}

test('enforces limits on processes, memory, file size and time', confined, async () => {
  const limits = { processes: 301, memoryMb: 200, fileMb: 2 };
  // Enough time to reach the other limits on a busy machine.
  await reopen({ limits: { ...limits, timeoutMs: 60_000 } });
  const held = (await bench.sandbox.explain(null)).limits.filter((limit) => limit.holds).map((limit) => limit.name);
  const file = await bench.shell('head -c 5000000 /dev/zero > big 2>/dev/null; stat -c %s big');
  expect(/^\d+$/m.exec(file.output)?.[0]).toBe(String(2 * 1_048_576));
  const memory = await bench.shell('head -c 500000000 /dev/zero | tail -c 500000000 | wc -c; echo ${PIPESTATUS[1]}');
  expect(memory.output).toMatch(/memory exhausted|Cannot allocate/i);
  await reopen({ limits: { ...limits, timeoutMs: 4000 } });
  const startedMs = performance.now();
  const bomb = await bench.shell(
    'bomb() { bomb | bomb & }; bomb 2>/dev/null; for i in 1 2 3 4 5 6; do ls /proc | grep -c "^[0-9]"; sleep 0.2; done',
  );
  const counts = bomb.output
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
  expect(Math.max(0, ...counts)).toBeLessThanOrEqual(310);
  expect(performance.now() - startedMs).toBeLessThan(20_000);
  const slow = await bench.shell('sleep 60');
  expect(slow.code).toBe(137);
  expect(held).toEqual(expect.arrayContaining(['timeoutMs', 'memoryMb', 'fileMb']));
});

test('twenty concurrent commands are isolated and leave nothing behind', confined, async () => {
  const descriptorsBefore = readdirSync('/proc/self/fd').length;
  const runs = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      bench.shell(`echo ${n} > "$TMPDIR/mine"; ls "$TMPDIR" | tr '\\n' ' '; cat "$TMPDIR/mine"; echo ${n} > out-${n}`),
    ),
  );
  // Mounts below the temporary folder are visible as well: this checkout, the folder of this test run, the workspace.
  const mounted = [process.execPath, tmpdir(), bench.workspace].map((path) => relative('/tmp', path).split(sep)[0]);
  const ownWords = (output: string): string[] =>
    output
      .trim()
      .split(' ')
      .filter((word) => !mounted.includes(word));
  expect(runs.map(({ code, output, report }) => [code, ownWords(output), report.remarks])).toEqual(
    runs.map((_, n) => [0, ['home', 'mine', String(n)], []]),
  );
  expect(readdirSync(bench.workspace).length).toBe(20);
  const instance = readdirSync(bench.temporary);
  expect(instance.map((name) => readdirSync(join(bench.temporary, name)))).toEqual([['syscall-filter']]);
  await bench.sandbox.dispose();
  expect(readdirSync(bench.temporary)).toEqual([]);
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(descriptorsBefore);
});

test('removes the folder of a killed instance, but not of a living process', async () => {
  mkdirSync(join(bench.temporary, 'trayclaw-sandbox-4194303-abc/run-1'), { recursive: true });
  mkdirSync(join(bench.temporary, `trayclaw-sandbox-${process.ppid}-abc`));
  await bench.sandbox.wrap(bench.command('/bin/true', [])).then(
    (wrapped) => wrapped.dispose(),
    () => undefined,
  );
  const names = readdirSync(bench.temporary).map((name) => name.split('-')[2]);
  expect(names).toContain(String(process.ppid));
  if (has('bubblewrap')) expect(names).not.toContain('4194303');
});

/** Sends a request for an address to the proxy, like a program that supports proxies. */
const askProxy = (address: string): string => `
  const http = require('node:http');
  const proxy = new URL(process.env.http_proxy);
  const user = Buffer.from(decodeURIComponent(proxy.username) + ':' + proxy.password).toString('base64');
  const headers = { host: new URL('${address}').host, 'proxy-authorization': 'Basic ' + user };
  http.get({ host: proxy.hostname, port: proxy.port, path: '${address}', agent: false, headers }, (reply) => {
    let text = '';
    reply.on('data', (part) => (text += part)).on('end', () => console.log(reply.statusCode, text.split('\\n')[0]));
  }).on('error', (failure) => console.log(failure.code));`;

/** Connects like a program that does not support proxies. */
const connectTo = (target: string): string => `
  const socket = require('node:net').connect(${target});
  socket.on('connect', () => { console.log('got through'); socket.destroy(); }).on('error', (failure) => console.log(failure.code));`;

test(
  'an allowed address is reached through the proxy, no other, and the proxy ends with the instance',
  needs('bubblewrap, socat, ripgrep and bash'),
  async () => {
    const seen: string[] = [];
    const canary = createServer((request, response) => {
      seen.push(request.url ?? '');
      response.end('canary');
    });
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void canary.close());
    const { port } = canary.address() as AddressInfo;
    await reopen({ network: { allowDomains: [`127.0.0.1:${port}`] } });
    const output = async (source: string): Promise<string> => (await bench.script(source)).output.trim();
    expect(await output(askProxy(`http://127.0.0.1:${port}/allowed`))).toBe('200 canary');
    for (const address of [`http://127.0.0.1:${port + 1}/`, 'http://example.org/', 'http://169.254.169.254/']) {
      expect(await output(askProxy(address))).toMatch(/^403/);
    }
    expect(await output(connectTo(`${port}, '127.0.0.1'`))).toBe('ECONNREFUSED');
    expect(await output(connectTo("'/tmp/x'"))).toBe('EPERM');
    expect(seen).toEqual(['/allowed']);
    await bench.sandbox.dispose();
    expect(children().filter((pid) => commandLine(pid).includes('socat'))).toEqual([]);
    expect(listeningPorts().filter((one) => one !== port)).toEqual([]);
  },
);

function children(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[1] === String(process.pid);
    } catch {
      // Ended in the meantime.
      return false;
    }
  });
}

/** Ports on which this process listens. */
function listeningPorts(): number[] {
  const inodes = new Set(
    readdirSync('/proc/self/fd').flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1] ?? [];
      } catch {
        // The descriptor of the listing itself.
        return [];
      }
    }),
  );
  const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'utf8').trim().split('\n').slice(1));
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((cells) => cells[3] === '0A' && inodes.has(cells[9] ?? ''))
    .map((cells) => Number.parseInt(cells[1]?.split(':')[1] ?? '', 16));
}

test('without a sandbox, required refuses with a hint, and auto runs with a remark', async () => {
  const environment = { PATH: '/nonexistent' };
  await reopen({ mode: 'required' }, { environment, platform: 'linux' });
  const refused = await bench.shell('touch ran').catch((cause: unknown) => cause);
  expect(refused).toBeInstanceOf(AppError);
  const { code, message, hint } = refused as AppError;
  expect({ code, message, hint }).toEqual({
    code: 'sandbox_unavailable',
    message: 'Commands run in the sandbox only, and there is none here: bubblewrap (bwrap) is missing.',
    hint: 'Install it: sudo apt install bubblewrap, sudo dnf install bubblewrap or sudo pacman -S bubblewrap. Or set sandbox.mode to auto in config.yaml.',
  });
  expect(bench.has('ran')).toBe(false);
  expect(await bench.sandbox.health()).toMatchObject({
    ok: false,
    detail: 'No sandbox here, so no command runs: bubblewrap (bwrap) is missing.',
  });

  await reopen({ mode: 'auto' }, { environment, platform: 'linux' });
  expect((await bench.shell('touch ran')).report).toEqual({
    remarks: ['it ran without a sandbox, for there is none here: bubblewrap (bwrap) is missing'],
    failed: false,
    whenFailed: null,
  });
  expect(bench.has('ran')).toBe(true);
  expect((await bench.shell('true', { attended: true })).report.remarks).toEqual([]);
  expect(await bench.sandbox.health()).toMatchObject({
    ok: true,
    detail: expect.stringContaining('are not confined: bubblewrap (bwrap) is missing'),
  });

  await reopen({ mode: 'required' }, { platform: 'win32' });
  await expect(bench.shell('true')).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('a backend for win32 is missing'),
  });
});

test('auto confines commands without an approval, off none, required all', async () => {
  const cases = [
    { attended: false, reads: null },
    { attended: false, reads: 'lists files' },
    { attended: true, reads: null },
  ];
  const sides: Record<string, string[]> = {};
  for (const mode of ['auto', 'off', 'required'] as const) {
    await reopen({ mode });
    const wrap = async (more: (typeof cases)[number]): Promise<string> => {
      const wrapped = await bench.sandbox.wrap(bench.command('/bin/true', [], more));
      await wrapped.dispose();
      return wrapped.side;
    };
    sides[mode] = [];
    if (has('bubblewrap') || mode === 'off') for (const one of cases) sides[mode].push(await wrap(one));
  }
  const all = (side: string): string[] => cases.map(() => side);
  expect(sides).toEqual({
    auto: has('bubblewrap') ? ['inside', 'outside', 'outside'] : [],
    off: all('outside'),
    required: has('bubblewrap') ? all('inside') : [],
  });
});

test('a script in another folder can be read and run, its neighbours cannot', confined, async () => {
  const script = bench.put('trayclaw/skills/one/run.sh', 'cat notes.txt; cat ../two/notes.txt; touch here');
  bench.put('trayclaw/skills/one/notes.txt', 'own\n');
  bench.put('trayclaw/skills/two/notes.txt', 'other\n');
  const folder = realpathSync(join(bench.home, 'skills/one'));
  const { output } = await bench.run('/bin/bash', [script], { cwd: folder, readFolders: [folder] });
  expect(output).toMatch(/^own\n.*No such file.*\n.*Read-only.*\n$/);
  await expect(bench.run('/bin/bash', [script], { cwd: join(bench.home, 'skills/two') })).rejects.toMatchObject({
    code: 'sandbox_unavailable',
  });
});

test('refuses a tree too large to scan, before and after the command', confined, async () => {
  await reopen({}, { foldersMax: 100 });
  const make = `const fs = require('node:fs'); for (let i = 0; i < 110; i++) fs.mkdirSync('d/e' + i, { recursive: true });`;
  const made = await bench.script(make);
  expect({ code: made.code, failed: made.report.failed, said: made.report.remarks.at(-1) }).toEqual({
    code: 0,
    failed: true,
    said: expect.stringContaining('not all could be checked'),
  });
  await expect(bench.shell('true')).rejects.toMatchObject({ code: 'sandbox_unavailable' });
});

test('explain says what a command may access, with and without a sandbox', async () => {
  await reopen(
    { mode: 'auto', network: { allowDomains: ['example.org'] } },
    { environment: { PATH: '/nonexistent', LANG: 'C', TOKEN: 'x' }, platform: 'linux' },
  );
  const explained = await bench.sandbox.explain({ attended: false, reads: null });
  expect(explained).toMatchObject({
    mode: 'auto',
    backend: { name: 'srt', how: 'bubblewrap with a system call filter' },
    available: false,
    command: { runs: 'outside', reason: 'it runs without your approval, and there is no sandbox here' },
    network: { allowDomains: ['example.org'] },
    environment: ['LANG', 'PATH'],
  });
  expect(explained.missing.map(({ what }) => what)).toEqual(['bubblewrap (bwrap)', 'socat', 'ripgrep (rg)', 'bash']);
  expect(explained.files.write).toEqual([bench.workspace, '$TMPDIR']);
  expect(explained.files.hidden).toContain(bench.person);
  expect((await bench.sandbox.explain({ attended: true, reads: null })).command).toEqual({
    runs: 'outside',
    reason: 'you approve it exactly as shown',
  });
  writeFileSync(join(bench.workspace, 'x'), 'x');
});
