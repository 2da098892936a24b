// An OpenSSH server on loopback for tests, with a generated host key.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Creates a key and returns its path. */
export function makeKey(folder: string, name: string): string {
  const path = join(folder, name);
  rmSync(path, { force: true });
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
  return path;
}

/** `folder` contains the key `host` and the file `allowed`; `more` contains further lines of its settings. */
export async function startSshServer(folder: string, port: number, more: readonly string[]): Promise<ChildProcess> {
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'allowed')}`,
    'StrictModes no',
    'UsePAM no',
    'PasswordAuthentication no',
    'PermitRootLogin yes',
    `PidFile ${join(folder, 'pid')}`,
    ...more,
  ];
  writeFileSync(join(folder, 'config'), `${lines.join('\n')}\n`);
  const server = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', join(folder, 'config')], { stdio: 'ignore' });
  for (let tries = 0; tries < 200 && !(await answers(port)); tries++) await sleep(25);
  return server;
}

export async function stopSshServer(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill();
  await ended;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });
}
