// A single request against a real server: returns the whole answer, and fails if it is cut off, too long or aborted.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { askJson, requestOnce, type SingleRequest } from './single-request.ts';

const given: SingleRequest = { bytesMax: 1_000, signal: new AbortController().signal };

async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: string) => void): Promise<URL> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a`);
}

test('an answer is returned whole, whatever its status', async () => {
  const url = await serve((request, response, body) => {
    response.writeHead(418, {
      'x-seen': `${request.method} ${request.url} ${request.headers['content-type']} ${String(request.headers['x-own'])}`,
    });
    response.end(body);
  });
  const { status, headers, text } = await requestOnce(url, { ...given, headers: { 'x-own': 'yes' }, body: { a: 'ü' } });
  expect([status, headers['x-seen'], text]).toEqual([418, 'POST /a application/json yes', '{"a":"ü"}']);
  expect((await requestOnce(url, given)).headers['x-seen']).toBe('GET /a undefined undefined');
});

test('an answer may have exactly `bytesMax` bytes, and no more', async () => {
  let size = 1_000;
  const url = await serve((_request, response) => response.end('x'.repeat(size)));
  expect((await requestOnce(url, given)).text).toHaveLength(1_000);
  size = 1_001;
  await expect(requestOnce(url, given)).rejects.toThrow('too long');
});

test('an interrupted answer, an abort and an absent server are failures', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('half', () => response.destroy());
  });
  await expect(requestOnce(url, given)).rejects.toMatchObject({ code: 'ECONNRESET' });
  const silent = await serve(() => undefined);
  const stop = new AbortController();
  const asked = requestOnce(silent, { ...given, signal: stop.signal });
  stop.abort();
  await expect(asked).rejects.toMatchObject({ code: 'ABORT_ERR' });
  await expect(requestOnce(silent, { ...given, signal: stop.signal })).rejects.toMatchObject({ code: 'ABORT_ERR' });
  await expect(requestOnce(new URL('http://127.0.0.1:1/'), given)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test.each([
  [200, '{"a":1}', { a: 1 }],
  [201, '{"a":1}', null],
  [200, '<html>', null],
  [200, JSON.stringify('x'.repeat(998)), 'x'.repeat(998)],
  [200, JSON.stringify('x'.repeat(999)), null],
])('reads the JSON of status %i with %.20s', async (status, text, expected) => {
  const url = await serve((_request, response) => response.writeHead(status).end(text));
  expect(await askJson(String(url), given)).toEqual(expected);
});

test('the JSON of an invalid address is null', async () => {
  expect(await askJson('no address', given)).toBeNull();
});
