// The ssh tools of the built program, against a real OpenSSH server: the bundle contains the library in another form than the sources use.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';
import { cliFile } from '../program-file.ts';
import { makeKey, startSshServer, stopSshServer } from '../rigs/ssh-server.ts';

test('the built program connects, trusts a key and runs a command', { ...needs('an ssh server'), timeout: 60_000 }, async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-ssh-built-'));
  const port = await freePort();
  makeKey(home, 'host');
  copyFileSync(`${makeKey(home, 'key')}.pub`, join(home, 'allowed'));
  chmodSync(join(home, 'allowed'), 0o600);
  const server = await startSshServer(home, port, []);
  onTestFinished(async () => {
    await stopSshServer(server);
    rmSync(home, { recursive: true, force: true });
  });
  const box = { host: '127.0.0.1', port, user: userInfo().username, key: 'file:key' };
  const policy = { rules: [{ when: { tools: ['ssh_trust', 'ssh_exec'] }, then: 'allow' }] };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ models: { default: 'demo/offline' }, policy, ssh: { hosts: { box } } }));
  const say = (tool: string, args: object): string => {
    const env = { PATH: process.env['PATH'], HOME: home, TRAYCLAW_HOME: home };
    const { stdout, stderr } = spawnSync(process.execPath, [cliFile, 'tool', tool, JSON.stringify({ host: 'box', ...args })], { env });
    return `${stdout.toString()}${stderr.toString()}`;
  };
  const key = spawnSync('ssh-keygen', ['-lf', join(home, 'host.pub')]);
  const fingerprint = /SHA256:\S+/.exec(key.stdout.toString())?.[0] ?? 'no key';
  expect(say('ssh_trust', {})).toContain(fingerprint);
  expect(say('ssh_trust', { fingerprint })).toContain('trusted from now on');
  expect(say('ssh_exec', { command: `echo 'it runs' > ${home}/there; cat ${home}/there` })).toContain('it runs');
  expect(readFileSync(join(home, 'there'), 'utf8')).toBe('it runs\n');
});
