// Requests that are refused before they reach a route: every answer is an error in one form, and ends its connection.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { createHttpDoor } from './http.ts';

const token = 'T'.repeat(43);

/** Resolves to all bytes of the answer, once the server has closed the connection. */
async function send(text: (port: number) => string): Promise<string> {
  const claw = new FakeClaw({});
  const receiveTimeoutsMs = { headers: 200, request: 300 };
  const options = { claw, token, logger: silentLogger, clock: new ManualClock(), assetsFolder: null, version: '1.2.3', receiveTimeoutsMs };
  const door = createHttpDoor(options);
  onTestFinished(async () => {
    await claw.close();
    await door.close();
  });
  const { port } = await door.listen({});
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.on('error', () => undefined);
  socket.write(text(port));
  await once(socket, 'close');
  return answer;
}

const own = (port: number): string => `host: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n`;

test.each<[string, (port: number) => string, number, RegExp]>([
  ['a request line that is none', () => 'NONSENSE\r\n\r\n', 400, /not valid HTTP/],
  ['a header that is none', (port) => `GET /health HTTP/1.1\r\n${own(port)}no colon here\r\n\r\n`, 400, /not valid HTTP/],
  ['headers over 16 KB', (port) => `GET /v1/models HTTP/1.1\r\n${own(port)}x: ${'y'.repeat(20_000)}\r\n\r\n`, 431, /larger than 16 KB/],
  [
    'two body lengths',
    (port) => `POST /v1/models HTTP/1.1\r\n${own(port)}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`,
    400,
    /not valid/,
  ],
  ['headers that never end', (port) => `GET /health HTTP/1.1\r\n${own(port)}`, 408, /did not arrive in time/],
  ['a foreign host', () => 'GET /v1/models HTTP/1.1\r\nhost: evil.example\r\n\r\n', 403, /Host header does not name this server/],
  ['a foreign origin', (port) => `GET /api/tags HTTP/1.1\r\n${own(port)}origin: http://evil.example\r\n\r\n`, 403, /other origins/],
])('%s gets an error in the form of the operations', async (_name, text, status, message) => {
  const [head = '', body = ''] = (await send(text)).split('\r\n\r\n');
  expect(head.toLowerCase()).toMatch(new RegExp(`^http/1.1 ${status} \\w`));
  for (const header of ['content-type: application/json; charset=utf-8', 'connection: close', 'x-content-type-options: nosniff'])
    expect(head.toLowerCase().split('\r\n')).toContain(header);
  expect(JSON.parse(body)).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) as string } });
});

test('nothing is written into the answer of an earlier request on the connection', async () => {
  const answer = await send((port) => `GET /health HTTP/1.1\r\n${own(port)}\r\nNONSENSE\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).not.toContain('not valid HTTP');
});
