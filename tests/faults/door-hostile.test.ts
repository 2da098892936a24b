// The local server with malformed and abusive requests: ambiguous heads, several requests on one connection, silence, floods, and a token
// of an earlier start.

import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { createHttpDoor, findInstance, InstanceDoor, type HttpDoor, type HttpDoorOptions } from '../../core/doors/http/http.ts';
import type { TrayClaw } from '../../core/index.ts';
import { until } from '../until.ts';
import { openHalf, sendAllRaw, sendRaw } from './raw-http.ts';
import { TestHome } from './test-home.ts';
import { ownNow } from '../own-clock.ts';

const token = 'the-right-token-of-this-door';

let home: TestHome;
let claw: TrayClaw;
let door: HttpDoor | null;

beforeEach(async () => {
  home = new TestHome();
  door = null;
  claw = await home.open({ config: { models: { default: 'demo/offline' } } });
});

afterEach(async () => {
  await door?.close();
  await home.dispose();
});

async function listen(more: Partial<HttpDoorOptions> = {}): Promise<number> {
  const options = { claw, token, logger: silentLogger, clock: new ManualClock(), assetsFolder: null, version: 'test' };
  door = createHttpDoor({ ...options, ...more });
  return (await door.listen({})).port;
}

const head = (port: number, lines: readonly string[], op = 'session.create'): string =>
  [`POST /api/ops/${op} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json', ...lines]
    .map((line) => `${line}\r\n`)
    .join('') + '\r\n';

async function countEvents(): Promise<number> {
  return (await claw.op('audit.verify', {})).events;
}

test('an ambiguous request head is refused, and nothing after it counts as a request', async () => {
  const port = await listen();
  const smuggled = head(port, ['Content-Length: 2', 'Connection: close']) + '{}';
  const tries: Readonly<Record<string, string>> = {
    'both lengths, chunked first': head(port, ['Transfer-Encoding: chunked', 'Content-Length: 5']) + '0\r\n\r\n' + smuggled,
    'both lengths, length first': head(port, ['Content-Length: 5', 'Transfer-Encoding: chunked']) + '0\r\n\r\n' + smuggled,
    'two lengths': head(port, ['Content-Length: 2', 'Content-Length: 5']) + '{}' + smuggled,
    'a list of lengths': head(port, ['Content-Length: 2, 5']) + '{}' + smuggled,
    'chunked is not the last coding': head(port, ['Transfer-Encoding: chunked, identity']) + '0\r\n\r\n' + smuggled,
    'an unknown coding': head(port, ['Transfer-Encoding: xchunked']) + '0\r\n\r\n' + smuggled,
    'a space before the colon': head(port, ['Transfer-Encoding : chunked']) + '0\r\n\r\n' + smuggled,
    'a folded line': head(port, ['Transfer-Encoding:', ' chunked', 'Content-Length: 2']) + '{}' + smuggled,
    'a negative length': head(port, ['Content-Length: -2']) + '{}' + smuggled,
    'a length in hex': head(port, ['Content-Length: 0x2']) + '{}' + smuggled,
    'a plus sign': head(port, ['Content-Length: +2']) + '{}' + smuggled,
    'a bad chunk size': head(port, ['Transfer-Encoding: chunked']) + 'zz\r\n{}\r\n0\r\n\r\n' + smuggled,
    'an endless chunk size': head(port, ['Transfer-Encoding: chunked']) + `${'f'.repeat(40)}\r\n{}`,
    'a bare line feed':
      head(port, ['Content-Length: 2']).replace('Host:', 'X: 1\nHost:').replaceAll('\r\nAuthorization', '\nAuthorization') + '{}',
    'a NUL in a value': head(port, ['X-Name: a\0b', 'Content-Length: 2']) + '{}',
    'another protocol': head(port, ['Content-Length: 2']).replace('HTTP/1.1', 'HTTP/9.9') + '{}',
    'a head of 100 KB': head(port, [`X-Long: ${'a'.repeat(100_000)}`, 'Content-Length: 2']) + '{}',
  };
  const before = await countEvents();
  const wrong: string[] = [];
  for (const [what, bytes] of Object.entries(tries)) {
    const answers = await sendAllRaw(port, bytes);
    if (answers.some(({ status }) => status < 400)) wrong.push(`${what}: ${answers.map(({ status }) => status).join()}`);
  }
  expect(wrong).toEqual([]);
  expect((await countEvents()) - before).toBe(0);
  // Control: the same request, well-formed, is accepted.
  expect((await sendRaw(port, smuggled)).status).toBe(200);
  expect((await countEvents()) - before).toBe(1);
});

test('each request on one connection is judged separately, and a refused one ends it', async () => {
  const port = await listen();
  const good = head(port, ['Content-Length: 2'], 'panic.status') + '{}';
  const foreign = good.replace(`Host: 127.0.0.1:${port}`, 'Host: evil.com');
  const nameless = good.replace(`Authorization: Bearer ${token}\r\n`, '');
  const last = head(port, ['Content-Length: 2', 'Connection: close'], 'panic.status') + '{}';
  const statuses = async (...requests: string[]): Promise<number[]> =>
    (await sendAllRaw(port, requests.join(''))).map(({ status }) => status);
  expect(await statuses(good, good, last)).toEqual([200, 200, 200]);
  expect(await statuses(good, foreign, last)).toEqual([200, 403]);
  expect(await statuses(good, nameless, last)).toEqual([200, 401]);
});

test('300 silent connections do not keep out a client with the token', async () => {
  const port = await listen();
  const keptOpen: Socket[] = [];
  const trusted = await openHalf(port, head(port, ['Content-Length: 2'], 'panic.status') + '{}');
  await new Promise((resolve) => trusted.once('data', resolve));
  for (let i = 0; i < 300; i++) keptOpen.push(await openHalf(port, i % 2 === 0 ? 'GET / HT' : `GET / HTTP/1.1\r\nX-Slow: ${i}\r\n`));
  const startedMs = ownNow();
  expect((await sendRaw(port, head(port, ['Content-Length: 2', 'Connection: close'], 'panic.status') + '{}')).status).toBe(200);
  expect(ownNow() - startedMs).toBeLessThan(1_000);
  await until(() => keptOpen.filter((socket) => socket.closed || socket.readableEnded).length >= 170, 'the oldest silent ones are gone');
  // A client that has shown the token is not disconnected.
  const again = new Promise<string>((resolve) => trusted.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  trusted.write(head(port, ['Content-Length: 2'], 'panic.status') + '{}');
  expect(await again).toMatch(/^HTTP\/1\.1 200 /);
  for (const socket of [...keptOpen, trusted]) socket.destroy();
});

test('a flood gets 429 with a delay; strangers use up nothing; the stop always works', async () => {
  const clock = new ManualClock();
  const port = await listen({ clock, requestRates: { connection: { perSecond: 10, burst: 5 }, door: { perSecond: 10, burst: 8 } } });
  const op = (name: string): string => head(port, ['Content-Length: 2'], name) + '{}';
  const close = head(port, ['Content-Length: 2', 'Connection: close'], 'panic.engage') + '{}';
  const stranger = op('session.list').replace('Bearer', 'Bearer x');
  const statuses = async (...requests: string[]): Promise<number[]> =>
    (await sendAllRaw(port, requests.join('') + close)).map(({ status }) => status);
  for (let i = 0; i < 9; i++) expect((await sendRaw(port, stranger)).status).toBe(401);
  expect(await statuses(...Array<string>(7).fill(op('session.list')))).toEqual([200, 200, 200, 200, 200, 429]);
  // Another connection has a separate allowance, and the door has one for all.
  expect(await statuses(...Array<string>(5).fill(op('session.list')))).toEqual([200, 200, 200, 429]);
  const [limited] = await sendAllRaw(port, op('session.list') + close);
  expect(limited).toMatchObject({ status: 429, body: expect.stringContaining('"rate_limited"') as string });
  expect(limited?.head).toMatch(/^retry-after: 1$/im);
  expect(await statuses()).toEqual([200]);
  clock.advance(1_000);
  expect(await statuses(op('session.list'))).toEqual([200, 200]);
});

test('programs without a token of a door or webhook use up nothing of the window', async () => {
  const clock = new ManualClock();
  const rate = { perSecond: 1, burst: 6 };
  const port = await listen({ clock, routes: claw.routes, requestRates: { connection: rate, door: rate } });
  const close = head(port, ['Content-Length: 2', 'Connection: close'], 'session.list') + '{}';
  const other = (method: string, path: string, key = ''): string =>
    [
      `${method} ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      'Content-Length: 2',
      'Content-Type: application/json',
      'Connection: close',
      key,
    ]
      .flatMap((line) => (line === '' ? [] : [`${line}\r\n`]))
      .join('') + '\r\n{}';
  const statusesOf = async (requests: readonly string[]): Promise<Set<number>> =>
    new Set(await Promise.all(requests.map(async (one) => (await sendRaw(port, one)).status)));
  const strangers = ['/mcp', '/v1/models', '/a2a', '/api/chat'].flatMap((path) => Array<string>(3).fill(other('POST', path)));
  expect(await statusesOf(strangers)).toEqual(new Set([401]));
  expect(await statusesOf([close])).toEqual(new Set([200]));
  const hooks = Array<string>(9).fill(other('POST', '/hooks/none'));
  expect([...(await statusesOf(hooks))]).toContain(429);
  expect(await statusesOf([close])).toEqual(new Set([200]));
  // With a token, a door counts like the window.
  const { key } = await claw.op('door.create_token', { door: 'openai', name: 'busy', perMinute: 6000 });
  const asked = await Promise.all(
    Array.from({ length: 9 }, () => sendRaw(port, other('GET', '/v1/models', `Authorization: Bearer ${key}`))),
  );
  expect(asked.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(asked.find(({ status }) => status === 429)?.head).toMatch(/^retry-after: 1$/im);
});

test('a token of an earlier start is refused at once, and its event streams have ended', { timeout: 60_000 }, async () => {
  const own = new TestHome();
  try {
    own.configure({ models: { default: 'demo/offline' } });
    const first = await own.serve();
    const stream = await fetch(`${first.url}/api/events?after=0`, { headers: { authorization: `Bearer ${first.token}` } });
    expect(stream.status).toBe(200);
    const ended = stream.text().then(
      () => 'ended',
      () => 'ended',
    );
    await first.end('SIGTERM');
    expect(await ended).toBe('ended');
    const second = await own.serve();
    const status = async (given: string): Promise<number> => {
      const response = await fetch(`${second.url}/api/events?after=latest&events=0`, { headers: { authorization: `Bearer ${given}` } });
      await response.body?.cancel();
      return response.status;
    };
    expect(second.token).not.toBe(first.token);
    expect([await status(first.token), await status(second.token)]).toEqual([401, 200]);
  } finally {
    await own.dispose();
  }
});

test('a socket folder that others can write into is neither used nor trusted', async () => {
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    log: (_level: string, message: string, data?: Record<string, unknown>) => void warnings.push(`${message}: ${String(data?.['reason'])}`),
  };
  const options = {
    claw,
    logger,
    clock: new ManualClock(),
    assetsFolder: null,
    version: 'test',
    home: home.path,
    pid: 1,
    platform: process.platform,
    temporaryFolder: home.path,
  };
  const folder = join(home.path, 'run');
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o777);
  const loose = new InstanceDoor(options);
  await loose.open();
  expect([warnings.length, await findInstance(home.path)]).toEqual([1, null]);
  expect(warnings[0]).toContain(`Others can write into the folder ${folder}.`);
  await loose.dispose();

  rmSync(folder, { recursive: true });
  const tight = new InstanceDoor(options);
  await tight.open();
  const found = await findInstance(home.path);
  expect(found?.record.token).toBe(tight.token);
  await found?.claw.close();
  // Its mode was changed behind our back: the client does not send its token either.
  chmodSync(folder, 0o722);
  expect(await findInstance(home.path)).toBeNull();
  await tight.dispose();
});
