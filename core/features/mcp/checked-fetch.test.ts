import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { OneOriginCheck } from '../../guard/safety/safety.ts';
import { createCheckedFetch } from './http-link.ts';

/** A server and what it was sent. */
async function listen(): Promise<{ origin: string; sent: string[] }> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      sent.push(`${request.method} ${request.headers['content-type']} ${body}`);
      if (request.url === '/moved') response.writeHead(302, { location: '/token' }).end();
      else response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] }).end('{"ok":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

test('sends a form and returns the answer without its cookies; a redirect is returned, not followed', async () => {
  const { origin, sent } = await listen();
  const send = createCheckedFetch(new OneOriginCheck(origin));
  const answer = await send(new URL(`${origin}/token`), { method: 'POST', body: new URLSearchParams({ code: 'c' }) });
  expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toEqual([200, 'application/json', { ok: true }]);
  expect(sent).toEqual(['POST application/x-www-form-urlencoded;charset=UTF-8 code=c']);
  expect((await send(new URL(`${origin}/moved`), {})).status).toBe(302);
});

test('refuses a name that leads to a private address, though the name itself is allowed', async () => {
  const { origin, sent } = await listen();
  const { port } = new URL(origin);
  const lookedUp: string[] = [];
  const judge = {
    url: (url: string) => ({ decision: 'allow' as const, reason: '', url, isListed: false }),
    resolvedUrl: (url: string) => {
      lookedUp.push(url);
      return Promise.resolve({ decision: 'deny' as const, reason: 'it is a private address', url, isListed: false, addresses: [] });
    },
    redirect: () => ({ decision: 'deny' as const, reason: '', url: '', isListed: false, keepsHeaders: false }),
  };
  const send = createCheckedFetch(judge);
  await expect(send(new URL(`http://auth.test.invalid:${port}/`), {})).rejects.toMatchObject({ code: 'address_refused' });
  expect([lookedUp, sent]).toEqual([[`http://auth.test.invalid:${port}/`], []]);
});

test('ends with its signal', async () => {
  const { origin } = await listen();
  const send = createCheckedFetch(new OneOriginCheck(origin));
  await expect(send(new URL(origin), { signal: AbortSignal.abort() })).rejects.toThrow(/./);
});
