// The local server over real sockets: access, refusals, and that operations, events and assets arrive.

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { AppError } from '../../contracts/errors.ts';
import { createHttpDoor, type HttpDoor, type HttpDoorOptions, type UrlListening } from './http.ts';
import { needs } from '../../../tests/needs.ts';

const token = 'T'.repeat(43);
const auth = { authorization: `Bearer ${token}` };
const json = { ...auth, 'content-type': 'application/json' };

let claw: FakeClaw;
let clock: ManualClock;
let door: HttpDoor;
let at: UrlListening;
let folder: string;

beforeEach(async () => {
  claw = new FakeClaw({ 'safety.url': ({ url }) => ({ decision: 'allow', reason: 'fine', url }) });
  clock = new ManualClock();
  folder = mkdtempSync(join(tmpdir(), 'trayclaw-door-'));
  const assets = join(folder, 'assets');
  mkdirSync(join(assets, 'deep'), { recursive: true });
  writeFileSync(join(assets, 'index.html'), '<!doctype html>window');
  writeFileSync(join(assets, 'deep', 'app.js'), 'export {};');
  mkdirSync(join(assets, 'assets'));
  writeFileSync(join(assets, 'assets', 'index-1a2b.js'), 'export {};');
  writeFileSync(join(assets, '.hidden'), 'hidden');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  symlinkSync(join(folder, 'secret.txt'), join(assets, 'link.txt'));
  door = createDoor(assets);
  at = await door.listen({});
});

function createDoor(assetsFolder: string | null, more: Partial<HttpDoorOptions> = {}): HttpDoor {
  const options = { claw, token, logger: silentLogger, clock, assetsFolder, version: '1.2.3', streamLimits: { heartbeatMs: 20 } };
  return createHttpDoor({ ...options, ...more });
}

afterEach(async () => {
  await claw.close();
  await door.close();
  rmSync(folder, { recursive: true });
});

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}

function send(path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const setHost = headers['host'] === undefined;
    const sent = request({ host: '127.0.0.1', port: at.port, path, method, headers, agent: false, setHost }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function open(path: string, { method = 'GET', headers = {}, body }: Sent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) =>
    request({ host: '127.0.0.1', port: at.port, path, method, headers, agent: false }, resolve).on('error', reject).end(body),
  );
}

/** Sends raw bytes, which a well-behaved client would not send. Resolves to the status line. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(at.port, '127.0.0.1', () => socket.write(text));
    let got = '';
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      got += chunk;
      if (got.includes('\r\n')) socket.destroy();
    });
    socket.on('close', () => resolve(got.split('\r\n')[0] ?? ''));
    socket.on('error', reject);
  });
}

const post = (path: string, body: unknown, headers: Record<string, string> = json): Promise<Reply> =>
  send(path, { method: 'POST', headers, body: JSON.stringify(body) });

const errorCode = (reply: Reply): unknown => (JSON.parse(reply.text) as { error: { code: string } }).error.code;

// Every address in 127.0.0.0/8 is this machine on Linux, and only a server that listens on all addresses would answer at the others.
test('listens only on 127.0.0.1', needs('Linux'), async () => {
  const reached = (host: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host, port: at.port });
      socket.once('connect', () => resolve('reached'));
      socket.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code ?? 'failed'));
      socket.once('connect', () => socket.destroy());
    });
  expect([await reached('127.0.0.1'), await reached('127.0.0.2')]).toEqual(['reached', 'ECONNREFUSED']);
});

test('the local socket refuses requests that come from a page', needs('a Unix system'), async () => {
  const { socketPath } = await door.listen({ socketPath: join(folder, 'door.sock') });
  const statusOf = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, path: '/health', headers }, (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode));
      });
      asked.once('error', reject);
      asked.end();
    });
  expect([await statusOf({}), await statusOf({ origin: 'http://localhost' })]).toEqual([200, 403]);
});

test('every method requires the exact Host and Origin, even with the right token', { timeout: 30_000 }, async () => {
  const own = `127.0.0.1:${at.port}`;
  const hosts = [own, `localhost:${at.port}`, 'evil.com', `evil.com:${at.port}`, `localhost.:${at.port}`, `127.0.0.1.nip.io:${at.port}`];
  hosts.push(`[::1]:${at.port}`, `0.0.0.0:${at.port}`, '127.0.0.1', '', `LOCALHOST:${at.port}`);
  const origins = [undefined, 'own', 'null', 'http://evil.com', 'http://localhost:1', 'file://', `https://${own}`];
  const knocks = [
    { path: '/api/events?after=0&events=0&deltas=0x', method: 'HEAD', allowed: 405 },
    { path: '/api/ops/safety.url', method: 'POST', allowed: 200, body: JSON.stringify({ url: 'https://example.org' }) },
    { path: '/', method: 'GET', allowed: 200 },
    { path: '/health', method: 'GET', allowed: 200 },
    { path: '/api/ops/safety.url', method: 'OPTIONS', allowed: 405 },
    { path: '/', method: 'GET', allowed: 200, upgrade: { connection: 'upgrade', upgrade: 'websocket' } },
  ];
  const wrong: unknown[] = [];
  let cells = 0;
  for (const [hostAt, host] of hosts.entries()) {
    for (const origin of origins) {
      for (const { path, method, allowed, body, upgrade } of knocks) {
        const sentOrigin = origin === 'own' ? `http://${host}` : origin;
        const headers = { ...json, ...upgrade, host, ...(sentOrigin === undefined ? {} : { origin: sentOrigin }) };
        const reply = await send(path, { method, headers, ...(body === undefined ? {} : { body }) });
        const isOwn = hostAt < 2 && (origin === undefined || origin === 'own');
        const hasCors = Object.keys(reply.headers).some((name) => name.startsWith('access-control-'));
        if (reply.status !== (isOwn ? allowed : 403) || hasCors) wrong.push({ host, origin, method, path, status: reply.status, hasCors });
        cells += 1;
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(cells).toBe(11 * 7 * 6);
  expect(claw.calls).toHaveLength(2 * 2);
});

test('ignores tricks with Host, absolute targets and forwarding headers', async () => {
  const head = (extra: string, target = '/'): string => `GET ${target} HTTP/1.1\r\n${extra}connection: close\r\n\r\n`;
  const host = `Host: 127.0.0.1:${at.port}\r\n`;
  expect(await sendRaw(head(host))).toBe('HTTP/1.1 200 OK');
  expect(await sendRaw(head(host + 'Host: evil.com\r\n'))).toMatch(/ 40[03] /);
  expect(await sendRaw(head(host + host))).toMatch(/ 40[03] /);
  expect(await sendRaw(head(''))).toBe('HTTP/1.1 403 Forbidden');
  expect(await sendRaw(head(host, 'http://evil.com/'))).toMatch(/ 40[03] /);
  expect(await sendRaw(head(host + 'Origin: null\r\nOrigin: null\r\n'))).toBe('HTTP/1.1 403 Forbidden');
  const forwarded = 'X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\n';
  expect(await sendRaw(head(`Host: evil.com\r\n${forwarded}`))).toBe('HTTP/1.1 403 Forbidden');
  expect(await sendRaw(`GET /api/events HTTP/1.1\r\n${host}${forwarded}\r\n`)).toBe('HTTP/1.1 401 Unauthorized');
});

test('another site may navigate to the page, and to nothing else', async () => {
  const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const status = async (path: string, headers: Record<string, string>, method = 'GET'): Promise<number> =>
    (await send(path, { method, headers })).status;
  expect(await status('/', navigation)).toBe(200);
  expect(await status('/', { ...navigation, 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await status('/deep/app.js', navigation)).toBe(403);
  expect(await status('/health', navigation)).toBe(403);
  expect(await status('/', navigation, 'POST')).toBe(403);
  expect(await status('/', { 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await status('/', { 'sec-fetch-site': 'same-origin' })).toBe(200);
  expect(await status('/', { 'sec-fetch-site': 'none' })).toBe(200);
});

test('the API requires the token, in the header only', async () => {
  const tries: [string, Record<string, string>][] = [
    ['/api/ops/panic.status', { 'content-type': 'application/json' }],
    [`/api/ops/panic.status?token=${token}&access_token=${token}`, { 'content-type': 'application/json' }],
    ['/api/ops/panic.status', { ...json, authorization: `Basic ${token}` }],
    ['/api/ops/panic.status', { ...json, authorization: token }],
    ['/api/ops/panic.status', { ...json, authorization: `Bearer ${token}x` }],
    ['/api/nothing', { 'content-type': 'application/json' }],
  ];
  for (const [path, headers] of tries) {
    const reply = await post(path, {}, headers);
    expect([reply.status, errorCode(reply), reply.headers['www-authenticate']]).toEqual([401, 'unauthorized', 'Bearer']);
  }
  expect(claw.calls).toEqual([]);
  expect((await post('/api/ops/panic.status', {})).status).toBe(200);
});

test('ten wrong tokens in a minute lock out every token but the right one', async () => {
  const wrong = { ...json, authorization: 'Bearer wrong' };
  for (let i = 0; i < 10; i++) expect((await post('/api/ops/panic.status', {}, wrong)).status).toBe(401);
  clock.advance(10_000);
  const locked = await post('/api/ops/panic.status', {}, wrong);
  expect([locked.status, locked.headers['retry-after'], errorCode(locked)]).toEqual([429, '50', 'unauthorized']);
  expect((await post('/api/ops/panic.status', {}, { 'content-type': 'application/json' })).status).toBe(429);
  expect((await post('/api/ops/panic.status', {})).status).toBe(200);
  clock.advance(50_001);
  expect((await post('/api/ops/panic.status', {}, wrong)).status).toBe(401);
});

test('a missing token does not count towards the lockout', async () => {
  for (let i = 0; i < 15; i++) expect((await post('/api/ops/panic.status', {}, { 'content-type': 'application/json' })).status).toBe(401);
});

test('operations answer in one format, with a matching status', async () => {
  claw.answers = {
    ...claw.answers,
    'panic.engage': () => {
      throw new TypeError('secret inner detail');
    },
    'turn.get': () => {
      throw new AppError('panic_engaged', 'Everything is stopped.');
    },
  };
  const shape = async (path: string, body: unknown): Promise<unknown> => {
    const { status, text } = await post(path, body);
    return [status, JSON.parse(text)];
  };
  const result = { decision: 'allow', reason: 'fine', url: 'https://example.org' };
  expect(await shape('/api/ops/safety.url', { url: 'https://example.org' })).toEqual([200, { ok: true, result }]);
  expect(await shape('/api/ops/safety.url', { nope: 1 })).toMatchObject([400, { ok: false, error: { code: 'invalid_params' } }]);
  expect(await shape('/api/ops/no.such', {})).toMatchObject([404, { ok: false, error: { code: 'unknown_op' } }]);
  expect(await shape('/api/ops/toString', {})).toMatchObject([404, { ok: false, error: { code: 'unknown_op' } }]);
  expect(await shape('/api/ops/turn.get', { turnId: 'x' })).toEqual([
    423,
    { ok: false, error: { code: 'panic_engaged', message: 'Everything is stopped.', hint: 'Release it with: trayclaw panic --release' } },
  ]);
  const broken = await post('/api/ops/panic.engage', {});
  expect([broken.status, broken.text.includes('secret inner detail')]).toEqual([500, false]);
  expect(claw.calls[0]).toEqual({ name: 'safety.url', params: { url: 'https://example.org' }, caller: { channel: 'http', actor: 'http' } });
});

test('accepts only plain JSON bodies', async () => {
  const status = async (headers: Record<string, string>, body: string): Promise<number> =>
    (await send('/api/ops/panic.status', { method: 'POST', headers, body })).status;
  expect(await status({ ...auth, 'content-type': 'text/plain' }, '{}')).toBe(415);
  expect(await status({ ...auth, 'content-type': 'application/x-www-form-urlencoded' }, 'a=b')).toBe(415);
  expect(await status(auth, '{}')).toBe(415);
  expect(await status({ ...json, 'content-encoding': 'gzip' }, '{}')).toBe(415);
  expect(await status({ ...auth, 'content-type': 'application/json; charset=utf-8' }, '{}')).toBe(200);
  expect(await status(json, '{')).toBe(400);
  expect(await status(json, '')).toBe(200);
  expect(await status(auth, '')).toBe(200);
});

test('accepts 10 MB of arguments and refuses over 12 MB, announced or not', async () => {
  let length = 0;
  claw.answers = {
    'tool.run': ({ args }) => {
      length = (args as string).length;
      throw new AppError('arguments_too_large', 'too large');
    },
  };
  const ten = await post('/api/ops/tool.run', { tool: 'write', args: 'x'.repeat(10_500_000) });
  expect([ten.status, errorCode(ten), length]).toEqual([413, 'arguments_too_large', 10_500_000]);
  const over = JSON.stringify({ tool: 'write', args: 'x'.repeat(12 * 1024 * 1024) });
  const announced = await send('/api/ops/tool.run', { method: 'POST', headers: json, body: over });
  expect([announced.status, errorCode(announced)]).toEqual([413, 'payload_too_large']);
  const chunked = await send('/api/ops/tool.run', { method: 'POST', headers: { ...json, 'transfer-encoding': 'chunked' }, body: over });
  expect([chunked.status, errorCode(chunked), chunked.headers.connection]).toEqual([413, 'payload_too_large', 'close']);
});

test('a sender that is refused while it sends gets the answer', async () => {
  const socket = connect(at.port, '127.0.0.1');
  const errors: unknown[] = [];
  socket.on('error', (cause) => errors.push(cause));
  const head = `POST /api/ops/tool.run HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head}Content-Type: application/json\r\nContent-Length: 13000000\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString('utf8')).toMatch(/^HTTP\/1\.1 413 /);
  for (let sent = 0; sent < 13; sent += 1) await new Promise((resolve) => socket.write('x'.repeat(1_000_000), resolve));
  await once(socket, 'close');
  expect(errors).toEqual([]);
});

test('disconnects a sender that never finishes', async () => {
  // A separate server, because a short limit would cut off normal senders on a busy machine.
  await door.close();
  door = createDoor(null, { receiveTimeoutsMs: { headers: 150, request: 150 } });
  at = await door.listen({});
  const head = `POST /api/ops/panic.status HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nAuthorization: Bearer ${token}\r\n`;
  expect(await sendRaw(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`)).toBe('HTTP/1.1 408 Request Timeout');
  expect(await sendRaw(head)).toBe('HTTP/1.1 408 Request Timeout');
});

test('every response has the security headers', async () => {
  for (const reply of [
    await send('/'),
    await send('/health'),
    await post('/api/ops/panic.status', {}),
    await send('/none'),
    await send('/api/x'),
  ]) {
    expect(reply.headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types svelte-trusted-html dompurify trayclaw-worker",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  }
  expect((await post('/api/ops/panic.status', {})).headers['cache-control']).toBe('no-store');
});

test('serves assets only from their folder', async () => {
  expect(await send('/')).toMatchObject({
    status: 200,
    text: '<!doctype html>window',
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
  expect(await send('/deep/app.js')).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } });
  const outside = ['/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/deep/..%5c..%5csecret.txt', '/deep/../../secret.txt'];
  for (const path of [...outside, '/link.txt', '/.hidden', '/deep', '/deep/', '//etc/passwd', '/%00', '/%', '/chat', '/C:/x']) {
    expect([path, (await send(path)).status]).toEqual([path, 404]);
  }
  expect(await send('/health')).toMatchObject({ status: 200, text: '{"ok":true,"version":"1.2.3"}' });
});

test('ask sends, waits and reports pending approvals', async () => {
  claw.scripts.push([{ say: 'four' }], [{ ask: { tool: 'write', args: '{}' } }]);
  const done = JSON.parse((await post('/api/ask', { text: '2+2?' })).text) as { result: unknown };
  expect(done.result).toMatchObject({ sessionId: 'ses_1', turnId: 'trn_1', status: 'done', text: 'four' });
  const waits = await post('/api/ask', { text: 'write', sessionId: 'ses_1' });
  expect([waits.status, JSON.parse(waits.text)]).toMatchObject([
    200,
    {
      ok: true,
      result: {
        status: 'waiting',
        pending: [{ approvalId: 'apr_1', tool: 'write', summary: 'Wants to write', risk: 'It can change files.' }],
      },
    },
  ]);
  expect((await post('/api/ask', { text: 'x', scope: 'admin' })).status).toBe(400);
});

test('reports a port that is in use', async () => {
  const failure = await door.listen({ port: at.port }).catch((cause: unknown) => cause);
  expect(failure).toMatchObject({ code: 'port_in_use', message: `Port ${at.port} on 127.0.0.1 is already in use.` });
});

test('a client that disconnects ends its wait', async () => {
  const aborted = new Promise<void>((resolve) => {
    claw.answers = {
      'turn.wait': (_params, caller) =>
        new Promise((_resolve, reject) => {
          caller.signal?.addEventListener('abort', () => {
            resolve();
            reject(new AppError('cancelled', 'gone'));
          });
          sent.destroy();
        }),
    };
  });
  const sent = request({ host: '127.0.0.1', port: at.port, path: '/api/ops/turn.wait', method: 'POST', headers: json, agent: false });
  sent.on('error', () => undefined);
  sent.end('{"turnId":"t"}');
  await aborted;
  await door.whenIdle();
  expect(door.openRequests).toBe(0);
});

test('browsers cache files named by a content hash and revalidate all others', async () => {
  const caching = async (path: string) => (await send(path)).headers['cache-control'];
  expect(await caching('/assets/index-1a2b.js')).toBe('public, max-age=31536000, immutable');
  for (const path of ['/', '/deep/app.js']) expect(await caching(path)).toBe('no-cache');
  expect((await send('/assets/none.js')).headers['cache-control']).toBe('no-store');
});

test('responses and streams with the token report the log position', async () => {
  claw.lastSeq = 41;
  const ask = (headers: Record<string, string>) =>
    send('/api/ops/safety.url', { method: 'POST', headers, body: '{"url":"https://example.org/"}' });
  expect((await ask(json)).headers['trayclaw-place']).toBe('41');
  expect((await ask({ 'content-type': 'application/json' })).headers['trayclaw-place']).toBe(undefined);
  const stream = await open('/api/events?after=latest', { headers: auth });
  expect(stream.headers['trayclaw-place']).toBe('41');
  stream.destroy();
});
