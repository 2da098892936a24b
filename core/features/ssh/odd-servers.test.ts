// The ssh tools against real OpenSSH servers with unusual behaviour: a profile that prints first, one session per connection, no sftp,
// machines that stop answering.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { spawnSync, type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../tests/free-port.ts';
import { needs } from '../../../tests/needs.ts';
import { makeKey, startSshServer, stopSshServer } from '../../../tests/rigs/ssh-server.ts';
import { createToolBench, type ToolBench } from '../../../tests/rigs/tool-bench.ts';
import { systemClock } from '../../base/clock.ts';
import { configSchema } from '../../contracts/config.ts';
import { PanicSwitch } from '../../guard/panic/panic.ts';
import { BackgroundCommands } from '../../hands/tools/tools.ts';
import { ssh } from './ssh.ts';

const options = { ...needs('an ssh server'), timeout: 60_000 };
const folder = mkdtempSync(join(tmpdir(), 'trayclaw-odd-ssh-'));
const names = ['plain', 'noisy', 'single', 'mute', 'frail'] as const;
let ports: number[] = [];
let server: ChildProcess;
let bench: ToolBench;

/** Additional settings for each machine. */
const settings: Record<(typeof names)[number], readonly string[]> = {
  plain: [],
  noisy: ['ForceCommand echo "setlocale: cannot change locale" >&2; eval "$SSH_ORIGINAL_COMMAND"; exit $?'],
  single: ['MaxSessions 1'],
  // The login shell of the user is missing.
  mute: ['ForceCommand echo "This account is not available" >&2; exit 1'],
  // Like Dropbear for root: the parent of a command does not lead its process group, and the end of the group ends the connection.
  frail: [
    `ForceCommand case "$SSH_ORIGINAL_COMMAND" in *KILL*) mkdir ${folder}/cut && { eval "$SSH_ORIGINAL_COMMAND"; kill -9 $PPID; };; esac; (eval "$SSH_ORIGINAL_COMMAND"; exit $?)`,
  ],
};

beforeAll(async () => {
  if (options.skip) return;
  ports = await Promise.all(names.map(() => freePort()));
  makeKey(folder, 'host');
  writeFileSync(join(folder, 'allowed'), readFileSync(`${makeKey(folder, 'key')}.pub`, 'utf8'));
  chmodSync(join(folder, 'allowed'), 0o600);
  const more = names.map((name, at) => ['Match LocalPort', ports[at], ...settings[name].map((line) => `\n${line}`)].join(' '));
  server = await startSshServer(folder, ports[0] ?? 0, [
    ...ports.slice(1).map((port) => `Port ${port}`),
    'Subsystem sftp internal-sftp',
    ...more,
  ]);
  bench = createToolBench();
  const user = userInfo().username;
  const hosts = Object.fromEntries(
    names.map((name, at) => [name, { host: '127.0.0.1', port: ports[at], user, key: `file:${join(folder, 'key')}` }]),
  );
  const resolve = (ref: string): Promise<string> => Promise.resolve(readFileSync(ref.slice('file:'.length), 'utf8'));
  const taken = {
    environment: {},
    secrets: { resolve },
    clock: systemClock,
    panic: new PanicSwitch(),
    background: new BackgroundCommands(),
    artifacts: bench.artifacts,
  };
  const { tools } = ssh.create({ home: bench.home, config: configSchema.parse({ ssh: { hosts } }), ...taken }, null);
  for (const tool of tools) bench.host.register(tool);
  for (const host of names) {
    const [, fingerprint] = /"fingerprint":"(SHA256:[^"]+)"/.exec(await say('ssh_trust', { host })) ?? [];
    await say('ssh_trust', { host, fingerprint });
  }
}, 60_000);
afterAll(async () => {
  if (options.skip) return;
  await bench.dispose();
  await stopSshServer(server);
  rmSync(folder, { recursive: true, force: true });
});

const say = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<string> => (await bench.call(tool, args)).forModel;

/** Starts a command and returns its process id. */
async function begun(host: string, limits: { readonly timeoutMs?: number } = {}) {
  const mark = join(mkdtempSync(join(folder, 'run-')), 'pid');
  const stop = new AbortController();
  const parsed = bench.host.parse('ssh_exec', JSON.stringify({ host, command: `echo begun; echo $$ > ${mark}; exec sleep 33.7` }));
  if (!parsed.ok) throw parsed.error;
  const call = bench.host.run(parsed.value, bench.context({ signal: stop.signal }), limits);
  await expect.poll(() => existsSync(mark) && readFileSync(mark, 'utf8').trim(), { timeout: 20_000 }).toMatch(/^\d+$/);
  return { stop, call, pid: Number(readFileSync(mark, 'utf8')) };
}

test('output of the profile is included, and a stop still ends the command', options, async () => {
  expect(await say('ssh_exec', { host: 'noisy', command: 'echo done' })).toContain('setlocale: cannot change locale\n');
  const { stop, call, pid } = await begun('noisy');
  stop.abort();
  expect(await call).toMatchObject({ outcome: 'cancelled' });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('an account without a shell returns its message and its code', options, async () => {
  expect(await say('ssh_exec', { host: 'mute', command: 'id' })).toBe('This account is not available\n\n[It ended with code 1.]');
});

test('a stop ends the command if a connection allows only one session', options, async () => {
  const { stop, call, pid } = await begun('single');
  stop.abort();
  expect(await call).toMatchObject({ outcome: 'cancelled' });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a stop that takes its connection along is looked after over another', options, async () => {
  const { stop, call, pid } = await begun('frail');
  stop.abort();
  // Others than root may not see every process.
  expect(await call).toMatchObject({ outcome: process.getuid?.() === 0 ? 'cancelled' : 'unknown' });
  expect(existsSync(join(folder, 'cut'))).toBe(true);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('a stop on a machine that no longer answers ends soon, with an unknown outcome', options, async () => {
  const { stop, call, pid } = await begun('plain');
  const session = sessionOf(pid);
  process.kill(session, 'SIGSTOP');
  try {
    stop.abort();
    const { outcome, forModel } = await call;
    expect(outcome).toBe('unknown');
    expect(forModel).toMatch(/^begun\n\n\[The command was to be stopped, but plain did not say that it ended\. It may run on there/);
    expect(isAlive(pid)).toBe(true);
  } finally {
    process.kill(session, 'SIGKILL');
    process.kill(pid, 'SIGKILL');
  }
});

test('a command that times out keeps its output and is ended on the machine', options, async () => {
  const { call, pid } = await begun('plain', { timeoutMs: 4_000 });
  expect(await call).toMatchObject({
    outcome: 'timeout',
    forModel: expect.stringMatching(/^begun\n.*\n\[Its time was over, and it was stopped\.\]$/s),
  });
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('only plain text files are read', options, async () => {
  const pipe = join(folder, 'pipe');
  spawnSync('mkfifo', [pipe]);
  expect(await say('ssh_read', { host: 'plain', path: pipe })).toMatch(/^\S+ is not a plain file\./);
  expect(await say('ssh_read', { host: 'plain', path: '/dev/zero' })).toMatch(/^\/dev\/zero is not a plain file\./);
  expect(await say('ssh_read', { host: 'plain', path: '/proc/self/status' })).toMatch(/^Name:/);
  expect(bench.host.parse('ssh_read', JSON.stringify({ host: 'plain', path: '~/x' }))).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('without ~') },
  });
  writeFileSync(join(folder, 'latin'), Buffer.from('caf\xe9', 'latin1'));
  expect(await say('ssh_read', { host: 'plain', path: join(folder, 'latin') })).toMatch(/^\[It is in Windows-1252\..*\]\ncafé$/);
  writeFileSync(join(folder, 'binary'), Buffer.from('caf\0'));
  expect(await say('ssh_read', { host: 'plain', path: join(folder, 'binary') })).toMatch(/^\[It is not text/);
});

test('a removed file is kept and can be restored', options, async () => {
  const path = join(folder, '-odd name');
  writeFileSync(path, 'kept');
  const [, undo = '{}'] = /To undo: ssh_write (\{.*\})/.exec(await say('ssh_write', { host: 'plain', path, remove: true })) ?? [];
  expect(existsSync(path)).toBe(false);
  await say('ssh_write', JSON.parse(undo) as Record<string, unknown>);
  expect(readFileSync(path, 'utf8')).toBe('kept');
});

test(
  'a write that failed halfway says how to restore the file',
  { ...needs('root on Linux, able to mount'), timeout: 60_000 },
  async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]);
    try {
      const path = join(disk, 'conf');
      writeFileSync(path, 'x'.repeat(20_000));
      const full = await bench.call('ssh_write', { host: 'plain', path, content: 'y'.repeat(200_000) });
      expect(full).toMatchObject({ outcome: 'error', forModel: expect.stringContaining('could not be written whole') });
      const [, undo = '{}'] = /To put back what was: ssh_write (\{.*\})/.exec(full.forModel) ?? [];
      await say('ssh_write', JSON.parse(undo) as Record<string, unknown>);
      expect(readFileSync(path, 'utf8')).toBe('x'.repeat(20_000));
    } finally {
      spawnSync('umount', [disk]);
    }
  },
);

function isAlive(pid: number): boolean {
  return spawnSync('kill', ['-0', String(pid)]).status === 0;
}

/** The sshd process of the connection that the process belongs to. */
function sessionOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return status.startsWith('Name:\tsshd') ? pid : sessionOf(Number(/PPid:\s+(\d+)/.exec(status)?.[1]));
}
