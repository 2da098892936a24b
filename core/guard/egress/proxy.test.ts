// Egress through a strict proxy: tunnels for secure addresses, whole addresses for others, and the rules for names and addresses as before.

import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { OneOriginCheck, SafetyChecks } from '../safety/safety.ts';
import { codeOf, judge, openFetch, other, shop, startWeb } from '../../../tests/doubles/web/egress-rig.ts';
import { TestProxy } from '../../../tests/doubles/web/proxy.ts';
import type { Web } from '../../../tests/doubles/web/web.ts';
import { proxiedFetch, type FetchAnswer, type GuardedFetchOptions, type ProxyChoice } from './egress.ts';

const { signal } = new AbortController();
const user = 'me:a@b';
let web: Web;
let proxy: TestProxy;

beforeAll(async () => {
  web = await startWeb();
  const names = { 'shop.test.invalid': shop, 'far.test.invalid': other, wiki: other, 'wiki.internal': other };
  proxy = await TestProxy.start(web, { names, user });
});
afterAll(async () => {
  await proxy.dispose();
  await web.dispose();
});
beforeEach(() => {
  web.reset();
  web.handle((_request, response) => void response.end('hello'));
  proxy.seen.length = 0;
});

/** Reaches the proxy and nothing else. */
const dialer = {
  dial: ({ address, port }: { address: string; port: number }): Promise<Socket> => {
    if (address !== '127.0.0.1') return Promise.reject(new Error(`${address} was dialled directly`));
    return new Promise(
      (resolve) =>
        void connect(port, address, function (this: Socket) {
          resolve(this);
        }),
    );
  },
};
const choose: ProxyChoice = () => new URL(`http://me:a%40b@127.0.0.1:${proxy.port}`);
const rules = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] }, usesProxy: true });
const get = (url: string, options: Partial<GuardedFetchOptions> = {}): Promise<FetchAnswer> =>
  openFetch(web, { dialer, proxy: choose, judge: rules, ...options }).fetch({ url }, signal);

test('a secure address goes through a tunnel, and its certificate is checked', async () => {
  expect(await get('https://shop.test.invalid/a?b=c')).toMatchObject({ status: 200, body: Buffer.from('hello') });
  expect(proxy.seen).toEqual(['CONNECT shop.test.invalid:443']);
  expect(web.requests).toMatchObject([{ host: 'shop.test.invalid', path: '/a?b=c', isSecure: true }]);
  expect(web.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
  expect(await codeOf(get('https://shop.test.invalid/', { authorities: [] }))).toMatch(/^fetch_failed .*(?:CERT|SELF_SIGNED)/);
});

test('another address is named as a whole, and only the proxy gets its password', async () => {
  expect(await get('http://shop.test.invalid/a?b=c')).toMatchObject({ status: 200 });
  expect(proxy.seen).toEqual(['GET http://shop.test.invalid/a?b=c']);
  expect(web.requests).toMatchObject([{ host: 'shop.test.invalid', path: '/a?b=c' }]);
  expect(web.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('a redirect goes through the proxy as well', async () => {
  web.handle((request, response) => {
    if (!request.isSecure) response.writeHead(301, { location: 'https://shop.test.invalid/' });
    response.end('there');
  });
  expect(await get('http://shop.test.invalid/')).toMatchObject({ url: 'https://shop.test.invalid/', body: Buffer.from('there') });
  expect(proxy.seen).toEqual(['GET http://shop.test.invalid/', 'CONNECT shop.test.invalid:443']);
});

test('the proxy finds public names that this machine does not know, but is asked for no private ones', async () => {
  expect(await get('https://far.test.invalid/')).toMatchObject({ status: 200 });
  for (const url of ['http://wiki/', 'http://wiki.internal/', 'https://wiki./'])
    expect(await codeOf(get(url))).toMatch(/ENOTFOUND|^address_refused/);
  expect(await codeOf(get('http://inside.test.invalid/', { resolver: { resolve: () => Promise.resolve(['10.0.0.7']) } }))).toMatch(
    /^address_refused/,
  );
  expect(proxy.seen).toEqual(['CONNECT far.test.invalid:443']);
});

test('a refusal by the proxy says what to do, and shows no password', async () => {
  const wrong: ProxyChoice = () => new URL(`http://me:wrong-word@127.0.0.1:${proxy.port}`);
  const failed = await get('https://shop.test.invalid/', { proxy: wrong }).catch((cause: unknown) => cause);
  expect(failed).toMatchObject({
    code: 'fetch_failed',
    message: `The proxy 127.0.0.1:${proxy.port} does not connect to shop.test.invalid (status 407).`,
    hint: expect.stringContaining('http://user:password@host:port'),
  });
  expect(JSON.stringify(failed)).not.toContain('wrong-word');
  expect(await get('http://shop.test.invalid/', { proxy: wrong })).toMatchObject({ status: 407 });
});

test('an address without a proxy is reached directly, and so is every one unless the rules let a proxy in', async () => {
  expect(await get('https://shop.test.invalid/', { dialer: web.dialer, proxy: () => null })).toMatchObject({ status: 200 });
  expect(await get('https://shop.test.invalid/', { dialer: web.dialer, judge: judge() })).toMatchObject({ status: 200 });
  expect(proxy.seen).toEqual([]);
  const own = new OneOriginCheck('http://wiki.internal');
  expect(await get('http://wiki.internal/', { judge: own })).toMatchObject({ status: 200 });
  expect(proxy.seen).toEqual(['GET http://wiki.internal/']);
});

test("the platform's fetch uses the proxy too, also with a body", async () => {
  web.handle((request, response) => void response.end(request.body));
  const send = proxiedFetch(globalThis.fetch, choose);
  const form = new FormData();
  form.set('file', new Blob(['content']), 'a.txt');
  const answer = await send('http://shop.test.invalid/upload', { method: 'POST', body: form });
  expect(await answer.text()).toContain('content');
  expect(answer).toBeInstanceOf(Response);
  expect(proxy.seen).toEqual(['POST http://shop.test.invalid/upload']);
  await expect(send('https://other.example/')).rejects.toThrow('fetch failed');
  expect(proxy.seen.at(-1)).toBe('CONNECT other.example:443');
});
