// Requests through a SOCKS5 proxy: secure ones and others, with a user and password, and the reasons of a refusal.

import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SafetyChecks } from '../safety/safety.ts';
import { openFetch, shop, startWeb } from '../../../tests/doubles/web/egress-rig.ts';
import { TestSocks } from '../../../tests/doubles/web/socks.ts';
import type { Web } from '../../../tests/doubles/web/web.ts';
import { proxiedFetch, type FetchAnswer } from './egress.ts';

let web: Web;
let proxy: TestSocks;
beforeAll(async () => {
  web = await startWeb();
  proxy = await TestSocks.start(web, { 'shop.test.invalid': shop });
  web.handle((request, response) => void response.end(`${request.path} ${request.body}`));
});
afterAll(async () => {
  await proxy.dispose();
  await web.dispose();
});

const judge = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] }, usesProxy: true });
const address = (word = 'a%40b'): URL => new URL(`socks5h://me:${word}@127.0.0.1:${proxy.port}`);
const get = (url: string, way = address()): Promise<FetchAnswer> =>
  openFetch(web, { judge, proxy: () => way }).fetch({ url }, new AbortController().signal);

test('every address goes through a tunnel, and its name is left to the proxy', async () => {
  proxy.seen.length = 0;
  expect((await get('https://shop.test.invalid/a?b=c')).body.toString()).toBe('/a?b=c ');
  expect((await get('http://shop.test.invalid/a')).body.toString()).toBe('/a ');
  const send = proxiedFetch(fetch, () => address());
  const answer = await send('http://shop.test.invalid/upload', { method: 'POST', body: 'text' });
  expect(await answer.text()).toBe('/upload text');
  expect(proxy.seen).toEqual(['shop.test.invalid:443', 'shop.test.invalid:80', 'shop.test.invalid:80']);
});

test.each([
  ['https://shop.test.invalid/', () => address('other'), /does not take the user and password\.$/],
  ['https://shop.test.invalid/', () => new URL(`socks5://127.0.0.1:${proxy.port}`), /wants a user and password\.$/],
  ['https://other.test.invalid/', () => address(), /does not connect to other\.test\.invalid: no such host\.$/],
] as const)('%s is refused with a reason, which shows no password', async (url, way, message) => {
  const failed = await get(url, way()).catch((cause: unknown) => cause);
  expect(failed).toMatchObject({
    code: 'fetch_failed',
    message: expect.stringMatching(message),
    hint: expect.stringContaining('ALL_PROXY'),
  });
  expect(JSON.stringify(failed)).not.toContain('a%40b');
});

test('a proxy that ends the connection, and one that speaks something else, are named', async () => {
  const answers = ['', 'HTTP/1.1 400 Bad Request\r\n\r\n'];
  const server = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end(answers.shift() ?? ''),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const way = new URL(`socks5://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await expect(get('https://shop.test.invalid/', way)).rejects.toThrow(/^The proxy 127\.0\.0\.1:\d+ closed the connection\.$/);
  await expect(get('https://shop.test.invalid/', way)).rejects.toThrow(/does not speak SOCKS5\.$/);
});
