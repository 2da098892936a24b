// The proxy of the browser: which refused requests it reports.

import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { CheckingProxy, type CheckingProxyDeps } from './checking-proxy.ts';

test('reports the refusals of hosts that a page asked for, and not those of the browser itself', async () => {
  const judge = { resolvedUrl: () => Promise.resolve({ decision: 'deny', reason: 'It is not open.' }) };
  const proxy = await CheckingProxy.start({ judge } as unknown as CheckingProxyDeps);
  onTestFinished(() => proxy.dispose());
  const ask = async (request: string): Promise<void> => {
    const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1').on('error', () => undefined);
    socket.write(`${request} HTTP/1.1\r\nhost: x\r\n\r\n`);
    socket.resume();
    await once(socket, 'close');
  };
  for (const request of ['CONNECT updates.example:443', 'CONNECT shop.example:443', 'CONNECT shop.example:80', 'GET http://shop.example/a'])
    await ask(request);
  expect(proxy.takeRefused(new Set(['shop.example', 'other.example']))).toEqual([
    'https://shop.example:443/ was refused. It is not open.',
    'http://shop.example:80/ was refused: sockets are not used here.',
    'http://shop.example/a was refused. It is not open.',
  ]);
  expect(proxy.takeRefused(new Set(['updates.example']))).toEqual([]);
});
