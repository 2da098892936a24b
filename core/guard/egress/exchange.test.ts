import { setImmediate as turn } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Web } from '../../../tests/doubles/web/web.ts';
import { AppError } from '../../contracts/errors.ts';
import { codeOf, judge, limits, openFetch, shop, startWeb } from '../../../tests/doubles/web/egress-rig.ts';
import { GuardedFetch, type FetchAnswer, type FetchLimits, type FetchRequest } from './egress.ts';

const { signal } = new AbortController();
let web: Web;
beforeAll(async () => {
  web = await startWeb();
});
afterAll(() => web.dispose());
beforeEach(() => web.reset());

const open = (changes: Partial<FetchLimits> = {}, rules = judge()): GuardedFetch =>
  openFetch(web, { judge: rules, limits: { ...limits, ...changes } });
const get = (request: Partial<FetchRequest> & { url: string }, fetcher = open()): Promise<FetchAnswer> => fetcher.fetch(request, signal);

test('truncates a body at the byte limit, before and after decompression', async () => {
  const bounded = open({ bytesMax: 1_000 });
  web.handle((_request, response) => void response.end('x'.repeat(1_000)));
  expect(await get({ url: 'http://shop.test.invalid/' }, bounded)).toMatchObject({ isCut: false, body: Buffer.from('x'.repeat(1_000)) });
  web.handle((_request, response) => void response.end('x'.repeat(1_001)));
  expect(await get({ url: 'http://shop.test.invalid/' }, bounded)).toMatchObject({ isCut: true, body: Buffer.from('x'.repeat(1_000)) });
  const bomb = Buffer.alloc(60_000_000);
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb, { params: { 1: 1 } })],
  ] as const) {
    web.handle((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(bytes);
    });
    const before = process.memoryUsage().arrayBuffers;
    const answer = await get({ url: 'http://shop.test.invalid/' });
    expect([answer.isCut, answer.body.length]).toEqual([true, limits.bytesMax]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  }
});

test('truncates an endless body, even one that decompresses to nothing', async () => {
  const endless = (encoding: string, start: Buffer, chunk: Buffer): void => {
    web.handle((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.write(start);
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
  };
  endless('identity', Buffer.alloc(0), Buffer.alloc(5_000, 'x'));
  expect((await get({ url: 'http://shop.test.invalid/' })).body.length).toBe(limits.bytesMax);
  // The header of a gzip file, then an endless series of empty blocks.
  endless('gzip', gzipSync('').subarray(0, 10), Buffer.alloc(5_000, Buffer.from([0, 0, 0, 255, 255])));
  expect(await get({ url: 'http://shop.test.invalid/' })).toMatchObject({ isCut: true, body: Buffer.alloc(0) });
});

test('accepts truncated plain answers; rejects damaged and unrequested encodings', async () => {
  const answer = (encoding: string, bytes: Buffer) => {
    web.handle((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding });
      response.end(bytes);
    });
    return get({ url: 'http://shop.test.invalid/' });
  };
  expect((await answer('gzip', gzipSync('hello').subarray(0, -6))).body.toString()).toBe('hello');
  expect((await answer('IDENTITY', Buffer.from('plain'))).body.toString()).toBe('plain');
  expect((await answer('gzip', Buffer.alloc(0))).body.length).toBe(0);
  expect(await codeOf(answer('gzip', Buffer.from('not gzip at all')))).toBe('fetch_failed Z_DATA_ERROR');
  expect(await codeOf(answer('br', Buffer.from([0xff, 0xff, 0xff, 0xff])))).toMatch(/^fetch_failed ERR__ERROR_FORMAT/);
  expect(await codeOf(answer('deflate', deflateSync('x')))).toBe('fetch_failed content-encoding');
  expect(await codeOf(answer('gzip, gzip', gzipSync(gzipSync('x'))))).toBe('fetch_failed content-encoding');
});

test('limits every wait: connecting, slow headers, silence and the total', async () => {
  web.handleRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const drip = setInterval(() => socket.write('x-a: b\r\n'), 10);
    socket.once('close', () => clearInterval(drip));
  });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }, open({ headersMs: 60 })))).toBe('fetch_failed timeout');
  web.handleRaw((socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }, open({ idleMs: 60 })))).toBe('fetch_failed timeout');
  web.handleRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    const drip = setInterval(() => socket.write('x'), 10);
    socket.once('close', () => clearInterval(drip));
  });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }, open({ idleMs: 60, totalMs: 150 })))).toBe('fetch_failed timeout');
  const deaf = {
    dial: (_target: unknown, at: AbortSignal) =>
      new Promise<never>((_, reject) => at.addEventListener('abort', () => reject(at.reason as Error))),
  };
  const stuck = new GuardedFetch({ judge: judge(), limits: { ...limits, connectMs: 60 }, resolver: web.resolver, dialer: deaf });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }, stuck))).toBe('fetch_failed timeout');
  const lost = new GuardedFetch({
    judge: judge(),
    limits: { ...limits, totalMs: 60 },
    resolver: { resolve: (_host, at) => new Promise((_, reject) => at.addEventListener('abort', () => reject(at.reason as Error))) },
    dialer: web.dialer,
  });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }, lost))).toBe('fetch_failed timeout');
});

test('tries the next address if one does not answer, and closes the late connection', async () => {
  web.handle((_request, response) => void response.end('second'));
  const dialled: string[] = [];
  const late: { destroyed: boolean }[] = [];
  const dialer = {
    dial: (target: { address: string; port: number }, at: AbortSignal) => {
      dialled.push(target.address);
      if (target.address === shop) return web.dialer.dial(target, at);
      // Connects after the race is over.
      return new Promise<never>((resolve) =>
        at.addEventListener('abort', () => {
          const socket = { destroyed: false, destroy: () => void (socket.destroyed = true) };
          late.push(socket);
          resolve(socket as never);
        }),
      );
    },
  };
  const racing = new GuardedFetch({ judge: judge(), limits, resolver: web.resolver, dialer });
  expect((await get({ url: 'http://slow-first.test.invalid/' }, racing)).body.toString()).toBe('second');
  await turn();
  expect([dialled, late]).toMatchObject([['93.184.216.99', shop], [{ destroyed: true }]]);
});

test('can be stopped before the request, while connecting and within the body', async () => {
  expect(await codeOf(open().fetch({ url: 'http://shop.test.invalid/' }, AbortSignal.abort()))).toBe('cancelled');
  expect(web.dialled).toEqual([]);
  const middle = new AbortController();
  const closed = Promise.withResolvers<void>();
  web.handle((_request, response) => {
    response.once('close', () => closed.resolve());
    response.write('begun');
    middle.abort();
  });
  expect(await codeOf(open().fetch({ url: 'http://shop.test.invalid/' }, middle.signal))).toBe('cancelled');
  await closed.promise;
  const own = new AppError('panic_engaged', 'Everything is stopped.');
  expect(await codeOf(open().fetch({ url: 'http://shop.test.invalid/' }, AbortSignal.abort(own)))).toBe('panic_engaged');
});

const smuggling: readonly [string, string][] = [
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabcde'],
  ['length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n'],
  ['a bare line feed in a chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;\nabcde\r\n0\r\n\r\n'],
  ['an invalid chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n'],
  ['a NUL in a header', 'HTTP/1.1 200 OK\r\nx-a: b\0c\r\ncontent-length: 0\r\n\r\n'],
  ['a space before the colon of a header', 'HTTP/1.1 200 OK\r\nx-a : b\r\ncontent-length: 0\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'],
  ['a truncated head', 'HTTP/1.1 200 O'],
];

test.each(smuggling)('rejects an answer with %s', async (_what, bytes) => {
  web.handleRaw((socket) => {
    socket.once('data', () => void socket.end(bytes));
  });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toMatch(/^fetch_failed /);
});

test('fails if the server hangs up: at once, after the request or within the body', async () => {
  web.handleRaw((socket) => void socket.resetAndDestroy());
  for (let round = 0; round < 5; round++)
    expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toMatch(/^fetch_failed (?:ECONN|UND_ERR_SOCKET|EPIPE)/);
  web.handleRaw((socket) => void socket.destroy());
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toMatch(/^fetch_failed (?:ECONN|UND_ERR_SOCKET|EPIPE)/);
  web.handleRaw((socket) => void socket.once('data', () => socket.resetAndDestroy()));
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toMatch(/^fetch_failed (?:ECONNRESET|UND_ERR_SOCKET)/);
  web.handleRaw((socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')));
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toMatch(/^fetch_failed (?:UND_ERR|ECONNRESET)/);
});

test('ignores a second answer on the connection', async () => {
  web.handleRaw((socket) => {
    socket.once(
      'data',
      () => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
    );
  });
  expect(await get({ url: 'http://shop.test.invalid/' })).toMatchObject({ status: 200, body: Buffer.from('ok') });
  expect(web.dialled).toHaveLength(1);
});

test('does not read a hundred thousand headers', async () => {
  web.handleRaw((socket) => {
    socket.once('data', () => void socket.end(`HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(100_000)}\r\n`));
  });
  expect(await codeOf(get({ url: 'http://shop.test.invalid/' }))).toBe('fetch_failed UND_ERR_HEADERS_OVERFLOW');
});
