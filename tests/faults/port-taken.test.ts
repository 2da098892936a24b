// A program that listens on TrayClaw's port after its end, or passes requests on to it: an open window gives it no token.

import { createHash } from 'node:crypto';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { createHttpDoor, type HttpDoorOptions, type UrlListening } from '../../core/doors/http/http.ts';
import { HttpClient } from '../../renderer/lib/http-client.ts';
import { proveServer } from '../../renderer/lib/prove-server.ts';
import { FakeClaw } from '../doubles/fake-claw.ts';

const token = 'T'.repeat(43);

async function listen(more: Partial<HttpDoorOptions> = {}): Promise<UrlListening> {
  const claw = new FakeClaw({});
  const options = { claw, token, logger: silentLogger, clock: new ManualClock(), assetsFolder: null, version: '1.2.3' };
  const door = createHttpDoor({ ...options, ...more });
  onTestFinished(async () => {
    await claw.close();
    await door.close();
  });
  return door.listen({});
}

/** A program at another port that passes each request on, under the name of the real server. */
function passOn(real: UrlListening): Promise<string> {
  return serve((asked, answer) => {
    const headers = { host: `127.0.0.1:${real.port}` };
    request({ port: real.port, path: asked.url, headers }, (given) => given.pipe(answer)).end();
  });
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the server proves itself to the window that has its token, and to no other', async () => {
  const { url } = await listen();
  expect(await proveServer(fetch, url, token)).toBe('proven');
  expect(await proveServer(fetch, url, 'another')).toBe('stranger');
});

test('after a restart the server proves itself with the earlier token as long as that can be exchanged', async () => {
  const clock = new ManualClock();
  const digest = createHash('sha256').update('earlier').digest('hex');
  const { url } = await listen({ clock, earlierToken: { digest, untilMs: clock.nowMs() + 1000 } });
  expect(await proveServer(fetch, url, 'earlier')).toBe('proven');
  clock.advance(1001);
  expect(await proveServer(fetch, url, 'earlier')).toBe('stranger');
});

test('a program that passes the proof on from another address is not believed', async () => {
  expect(await proveServer(fetch, await passOn(await listen()), token)).toBe('stranger');
});

test('nothing but a random number is signed', async () => {
  const { url } = await listen();
  for (const nonce of ['', 'a', '0'.repeat(63), '0'.repeat(65), 'G'.repeat(64), `${'0'.repeat(64)}&x`]) {
    const response = await fetch(`${url}/api/prove?nonce=${encodeURIComponent(nonce)}`);
    expect([response.status, await response.text()]).toEqual([400, expect.not.stringContaining('proofs')]);
  }
});

test.each([
  ['knows nothing', (response: ServerResponse): void => void response.writeHead(404).end()],
  ['answers at random', (response: ServerResponse): void => void response.end(`{"ok":true,"result":{"proofs":["${'0'.repeat(64)}"]}}`)],
])('after a lost connection a program that %s gets no token', async (_name, answer) => {
  let isLost = false;
  const tokens: (string | undefined)[] = [];
  const origin = await serve((asked, response) => {
    if (isLost) tokens.push(asked.headers.authorization);
    if (isLost) return answer(response);
    isLost = true;
    response.writeHead(200).end();
  });
  const client = new HttpClient({ origin, token, random: () => 0.5, firstWaitMs: 1, waitMsMax: 4 });
  const unproven = Promise.withResolvers<void>();
  const ignore = (): void => undefined;
  const stop = client.events('latest', {
    onEvent: ignore,
    onDelta: ignore,
    onState: (state) => {
      if (state === 'unproven' || tokens.length > 5) unproven.resolve();
    },
  });
  await unproven.promise;
  await expect(client.op('panic.status', {})).rejects.toMatchObject({ code: 'offline' });
  stop();
  expect([...new Set(tokens)]).toEqual([undefined]);
});
