// The messages about a machine that cannot be used: real OpenSSH servers that refuse, with every common cause.

import { spawnSync, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../tests/free-port.ts';
import { needs } from '../../../tests/needs.ts';
import { makeKey, startSshServer, stopSshServer } from '../../../tests/rigs/ssh-server.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { SshHost } from '../../contracts/features/ssh.ts';
import { SshConnection } from './connection.ts';

const options = { ...needs('an ssh server'), timeout: 60_000 };
const folder = mkdtempSync(join(tmpdir(), 'trayclaw-ssh-failure-'));
const user = userInfo().username;
let server: ChildProcess;
let agent: { pid: number; socket: string };
let web: Server;
let port: number;
let fingerprint: string;
let hosts: Record<string, SshHost>;

beforeAll(async () => {
  if (options.skip) return;
  port = await freePort();
  const [oldPort, noPort] = [await freePort(), await freePort()];
  makeKey(folder, 'host');
  fingerprint = /SHA256:\S+/.exec(spawnSync('ssh-keygen', ['-lf', join(folder, 'host.pub')]).stdout.toString())?.[0] ?? '';
  makeKey(folder, 'other');
  writeFileSync(join(folder, 'allowed'), readFileSync(`${makeKey(folder, 'key')}.pub`));
  chmodSync(join(folder, 'allowed'), 0o600);
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'a passphrase', '-f', join(folder, 'locked')]);
  server = await startSshServer(folder, port, [`Port ${oldPort}`, `Match LocalPort ${oldPort}`, 'AllowTcpForwarding no']);
  const told = spawnSync('ssh-agent', ['-s', '-a', join(folder, 'agent')]).stdout.toString();
  agent = { pid: Number(/SSH_AGENT_PID=(\d+)/.exec(told)?.[1]), socket: join(folder, 'agent') };
  web = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => void web.listen(0, '127.0.0.1', resolve));
  const webPort = (web.address() as { port: number }).port;
  const box = { host: '127.0.0.1', port, user, key: join(folder, 'key') };
  const { key: _key, ...keyless } = box;
  hosts = {
    box,
    keyless,
    wrong: { ...box, key: join(folder, 'other') },
    stranger: { ...box, user: 'nosuchuser' },
    locked: { ...box, key: join(folder, 'locked') },
    guessed: { ...box, key: join(folder, 'locked'), passphrase: join(folder, 'host.pub') },
    public: { ...box, key: join(folder, 'key.pub') },
    off: { ...box, port: noPort },
    lost: { ...box, host: 'nothing.invalid' },
    web: { ...box, port: webPort },
    inner: { ...box, jump: 'box' },
    barred: { ...box, jump: 'strict' },
    strict: { ...box, port: oldPort },
    hidden: { ...box, port: noPort, jump: 'box' },
  };
}, 60_000);
afterAll(async () => {
  if (options.skip) return;
  await stopSshServer(server);
  process.kill(agent.pid);
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Known {
  readonly trusted?: string | null;
  readonly socket?: string | undefined;
}

/** The message and the hint of a failed attempt; null if it succeeded. */
async function problemOf(name: string, { trusted = fingerprint, socket = agent.socket }: Known = {}): Promise<string | null> {
  const hostOf = (one: string): SshHost => hosts[one] ?? expect.fail(one);
  const resolve = (ref: string): Promise<string> => Promise.resolve(readFileSync(ref, 'utf8').trim());
  const ports = { hostOf, trusted: () => trusted, resolve, agent: socket === '' ? undefined : socket };
  try {
    const connection = await SshConnection.open(name, ports, AbortSignal.timeout(30_000));
    connection.close();
    return null;
  } catch (cause) {
    return toAppError(cause).told('\n');
  }
}

const addressOf = (name: string): string => `${hosts[name]?.host}:${hosts[name]?.port}`;

test('a refused login says which key was refused, and where it belongs', options, async () => {
  expect([await problemOf('box'), await problemOf('inner')]).toEqual([null, null]);
  const add = (name: string): string => `Add its public key to ~/.ssh/authorized_keys of ${hosts[name]?.user} on ${name}`;
  expect(await problemOf('wrong')).toContain(`wrong does not accept the key for the user ${user}.\n${add('wrong')}`);
  expect(await problemOf('stranger')).toContain(`the key for the user nosuchuser.\n${add('stranger')}`);
  expect(await problemOf('keyless')).toContain(`keyless accepts no key of your ssh agent for the user ${user}.\nssh-add -l lists`);
  expect(await problemOf('keyless', { socket: '' })).toBe(
    'There is no key for keyless.\nSet key for keyless, or start your ssh agent before TrayClaw.',
  );
  expect(await problemOf('keyless', { socket: join(folder, 'no-agent') })).toMatch(/^Your ssh agent did not answer\.\nSet key for keyless/);
});

test('an unreadable private key and a refused one have different messages', options, async () => {
  expect(await problemOf('locked')).toMatch(
    /^The private key of locked could not be read: .*no passphrase given\.\nSet passphrase for locked/,
  );
  expect(await problemOf('guessed')).toMatch(/^The private key of guessed could not be read: .*bad passphrase/);
  expect(await problemOf('public')).toMatch(/^The private key of public could not be read: .*not the public one\.$/s);
});

test('an unknown host key and a changed one say what to do, also for a jump host', options, async () => {
  for (const name of ['box', 'inner'])
    expect(await problemOf(name, { trusted: null })).toBe(
      `The host key of box is not known yet: it is ${fingerprint}. Nothing was sent.\nCall ssh_trust with box first.`,
    );
  expect(await problemOf('box', { trusted: 'SHA256:old' })).toMatch(
    new RegExp(
      `^The host key of box changed: .* you trusted SHA256:old\\. Nothing was sent\\.\n.*the line of ${addressOf('box')} from ssh_known`,
    ),
  );
});

test('an unreachable machine and one without an ssh server have different messages', options, async () => {
  expect(await problemOf('off')).toMatch(
    `Nothing answers at off (${addressOf('off')}).\nCheck that off is on, that an ssh server runs there`,
  );
  expect(await problemOf('lost')).toMatch(`The host of lost (${addressOf('lost')}) cannot be found.`);
  expect(await problemOf('web')).toMatch(`web (${addressOf('web')}) did not answer as an ssh server.`);
  expect(await problemOf('hidden')).toMatch(
    `box cannot reach ${addressOf('hidden')}: Connection refused.\nCheck the address, as seen from box.`,
  );
  expect(await problemOf('barred')).toMatch(/^strict cannot reach .*\nThe ssh server of strict must allow it: AllowTcpForwarding yes\.$/);
});
