// An instance and the processes that look for it, over a real local socket: its file, its token, its port.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { freePort } from '../../../tests/free-port.ts';
import { needs } from '../../../tests/needs.ts';
import { systemClock, type Clock } from '../../base/clock.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { configSchema, type ConfigInput } from '../../contracts/config.ts';
import { findInstance, HttpClaw, InstanceDoor, socketPathFor } from './http.ts';

let folder: string;
let claw: FakeClaw;

const settingsWith = (input: ConfigInput): FakeClaw['answers'] => ({
  'config.get': () => ({ path: '', file: input, config: configSchema.parse(input), problem: null, warnings: [] }),
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-instance-'));
  claw = new FakeClaw(settingsWith({}));
});

afterEach(async () => {
  await claw.close();
  rmSync(folder, { recursive: true });
});

const openInstance = async (
  home: string,
  clock: Clock = systemClock,
  own: { readonly isApp?: true } = {},
  logger = silentLogger,
): Promise<InstanceDoor> => {
  const options = { logger, clock, assetsFolder: null, version: '9', platform: process.platform } as const;
  const instance = new InstanceDoor({ home, claw, pid: 4242, temporaryFolder: folder, ...options, ...own });
  await instance.open();
  return instance;
};

test('finds an instance through its file; it serves on request and cleans up', async () => {
  expect(await findInstance(folder)).toBeNull();
  const instance = await openInstance(folder);
  const file = join(folder, 'instance.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'run', 'trayclaw.sock')).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'run')).mode & 0o777).toBe(0o700);
  const found = await findInstance(folder);
  expect(found?.record).toEqual({ pid: 4242, socketPath: join(folder, 'run', 'trayclaw.sock'), token: instance.token, version: '9' });
  expect(await found?.claw.op('panic.status', {})).toMatchObject({ engaged: false });
  const { url, token } = await instance.serve();
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ url, token });
  expect((await fetch(`${url}/health`)).status).toBe(200);
  await found?.claw.close();
  await instance.dispose();
  expect([existsSync(file), existsSync(join(folder, 'run', 'trayclaw.sock'))]).toEqual([false, false]);
});

test('without a local socket it says why, and what to do', async () => {
  writeFileSync(join(folder, 'run'), 'a file');
  const said: unknown[] = [];
  const logger = { log: (_level: string, text: string, fields?: unknown) => void said.push([text, fields]) };
  const instance = await openInstance(folder, systemClock, {}, logger);
  const path = join(folder, 'run');
  const reason = `${path} is not a folder. Remove ${path}, then start again.`;
  expect(said).toEqual([['no local socket: other processes cannot join this instance', { reason }]]);
  await instance.dispose();
  expect(readFileSync(path, 'utf8')).toBe('a file');
});

test('a data folder on a disk without sockets has its socket among the temporary files', needs('a Unix system'), async () => {
  // A folder in the way fails the call as such a disk does.
  mkdirSync(join(folder, 'run', 'trayclaw.sock'), { recursive: true, mode: 0o700 });
  const instance = await openInstance(folder);
  const found = await findInstance(folder);
  const socket = found?.record.socketPath ?? '';
  expect(socket).toBe(join(folder, basename(dirname(socket)), 'trayclaw.sock'));
  expect(await found?.claw.op('panic.status', {})).toMatchObject({ engaged: false });
  expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
  await found?.claw.close();
  await instance.dispose();
  expect(existsSync(socket)).toBe(false);
});

test('the tray app serves when a process of the same person asks over the socket', async () => {
  const app = await openInstance(folder, systemClock, { isApp: true });
  const found = await findInstance(folder);
  expect(found?.record).toMatchObject({ isApp: true });
  expect(found?.record.url).toBeUndefined();
  const [first, second] = await Promise.all([found?.serve?.(), found?.serve?.(4)]);
  expect([first, (await findInstance(folder))?.record.url]).toEqual([second, first?.url]);
  const url = first?.url ?? '';
  const headers = { authorization: `Bearer ${app.token}`, 'content-type': 'application/json' };
  expect((await fetch(`${url}/api/serve`, { method: 'POST', headers, body: '{}' })).status).toBe(404);
  await found?.claw.close();
  await app.dispose();
  await expect(fetch(`${url}/health`)).rejects.toThrow('fetch failed');
});

test('the tray app serves on the port it is given, that of the settings, or says that it is taken', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const app = await openInstance(folder, systemClock, { isApp: true });
  const found = await findInstance(folder);
  await expect(found?.serve?.((taken.address() as AddressInfo).port)).rejects.toMatchObject({ code: 'port_in_use' });
  await expect(found?.serve?.(70_000)).rejects.toMatchObject({ code: 'invalid_params' });
  const port = await freePort();
  claw.answers = settingsWith({ doors: { port } });
  expect(await found?.serve?.()).toEqual({ url: `http://127.0.0.1:${port}` });
  await found?.claw.close();
  await app.dispose();
  await new Promise((resolve) => taken.close(resolve));
});

test('no other instance is asked to serve', async () => {
  const instance = await openInstance(folder);
  const found = await findInstance(folder);
  expect(found?.serve).toBeUndefined();
  await expect(
    new HttpClaw({ address: { socketPath: found?.record.socketPath ?? '' }, token: instance.token }).serve(),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
  await found?.claw.close();
  await instance.dispose();
});

test('ignores the leftovers of a killed instance, and the next one replaces them', async () => {
  const first = await openInstance(folder);
  const left = readFileSync(join(folder, 'instance.json'), 'utf8');
  await first.dispose();
  writeFileSync(join(folder, 'instance.json'), left);
  writeFileSync(join(folder, 'run', 'trayclaw.sock'), '');
  expect(await findInstance(folder)).toBeNull();
  rmSync(join(folder, 'run', 'trayclaw.sock'));
  const second = await openInstance(folder);
  expect((await findInstance(folder))?.record.token).toBe(second.token);
  await second.dispose();
});

test('for ten minutes after a clean exit, the old token only yields the new one', async () => {
  const clock = new ManualClock();
  const ask = async (url: string, token: string, path: string): Promise<readonly [number, unknown]> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/${path}`, { method: 'POST', headers, body: '{}' });
    return [response.status, ((await response.json()) as { readonly result?: unknown }).result];
  };
  const run = async (): Promise<{ readonly url: string; readonly token: string; readonly instance: InstanceDoor }> => {
    const instance = await openInstance(folder, clock);
    return { instance, ...(await instance.serve()) };
  };
  const first = await run();
  await first.instance.dispose();
  const second = await run();
  expect([second.url, second.token === first.token]).toEqual([first.url, false]);
  expect(await ask(second.url, first.token, 'renew')).toEqual([200, { token: second.token }]);
  expect(await ask(second.url, second.token, 'ops/panic.status')).toMatchObject([200, { engaged: false }]);
  expect(await ask(second.url, first.token, 'ops/panic.status')).toEqual([401, undefined]);
  expect(await ask(second.url, 'another', 'renew')).toEqual([401, undefined]);
  clock.advance(600_001);
  expect(await ask(second.url, first.token, 'renew')).toEqual([401, undefined]);
  await second.instance.dispose();
  const third = await run();
  expect((await ask(third.url, first.token, 'renew'))[0]).toBe(401);
  expect((await ask(third.url, second.token, 'renew'))[0]).toBe(200);
  await third.instance.dispose();
  clock.advance(600_001);
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(Number(new URL(first.url).port), '127.0.0.1', resolve));
  const late = await run();
  expect(late.url).not.toBe(first.url);
  expect((await ask(late.url, third.token, 'renew'))[0]).toBe(401);
  await late.instance.dispose();
  await new Promise((resolve) => taken.close(resolve));
});

test('trusts nothing that does not answer as an instance', async () => {
  const path = join(folder, 'other.sock');
  const record = { pid: 1, socketPath: path, token: 'secret', version: '1' };
  const file = join(folder, 'instance.json');
  const asked: (string | undefined)[] = [];
  const other = createServer((asking, response) => {
    asked.push(asking.headers.authorization);
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => other.listen(path, resolve));
  writeFileSync(file, JSON.stringify(record));
  chmodSync(file, 0o600);
  expect(await findInstance(folder)).toBeNull();
  for (const broken of ['', '{', '{"pid":"x"}', '[]']) {
    writeFileSync(file, broken);
    expect(await findInstance(folder)).toBeNull();
  }
  await new Promise((resolve) => other.close(resolve));
  expect(asked).toEqual([undefined]);
});

test('puts the socket into the data folder unless the path is too long', () => {
  expect(socketPathFor('/home/a', 'linux', '/tmp')).toBe('/home/a/run/trayclaw.sock');
  expect(socketPathFor('/h/' + 'x'.repeat(90), 'linux', '/tmp')).toMatch(/^\/tmp\/trayclaw-[0-9a-f]{16}\/trayclaw\.sock$/);
  expect(socketPathFor('C:\\x', 'win32', 'C:\\tmp')).toMatch(/^\\\\\.\\pipe\\trayclaw-[0-9a-f]{16}$/);
});
