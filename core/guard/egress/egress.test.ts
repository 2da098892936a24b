import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Web, WebHandler } from '../../../tests/doubles/web/web.ts';
import { codeOf, judge, limits, openFetch, other, shop, startWeb } from '../../../tests/doubles/web/egress-rig.ts';
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

test('returns status, headers, body and URL of an answer', async () => {
  web.handle((_request, response) => {
    response.writeHead(404, { 'content-type': 'text/plain', 'x-a': ['1', '2'], 'set-cookie': ['a=1', 'b=2'] });
    response.end('gone');
  });
  const { headers, ...rest } = await get({ url: 'http://shop.test.invalid/a?b=c#d', headers: { 'X-Own': ' yes ' } });
  expect(rest).toEqual({
    url: 'http://shop.test.invalid/a?b=c#d',
    status: 404,
    body: Buffer.from('gone'),
    isCut: false,
    hosts: ['shop.test.invalid'],
    redirectTo: null,
  });
  expect(headers).toMatchObject({ 'content-type': 'text/plain', 'x-a': '1, 2', 'set-cookie': 'a=1\nb=2' });
  const { host, 'x-own': own, 'user-agent': agent, connection, ...sent } = web.requests[0]?.headers ?? {};
  expect([host, own, connection, agent]).toEqual(['shop.test.invalid', 'yes', 'close', 'Mozilla/5.0 (compatible; TrayClaw)']);
  expect(sent).toEqual({ accept: '*/*', 'accept-encoding': 'gzip, br' });
  expect(web.requests[0]?.path).toBe('/a?b=c');
});

test('checks the certificate against the name in the URL, even if the address is right', async () => {
  web.handle((_request, response) => void response.end('safe'));
  expect((await get({ url: 'https://shop.test.invalid/' })).body.toString()).toBe('safe');
  expect((await get({ url: `https://${shop}/` })).body.toString()).toBe('safe');
  expect(await codeOf(get({ url: `https://${other}/` }))).toBe('fetch_failed ERR_TLS_CERT_ALTNAME_INVALID');
  expect(await codeOf(get({ url: 'https://www.shop.test.invalid/' }))).toBe('fetch_failed ERR_TLS_CERT_ALTNAME_INVALID');
  const unknown = new GuardedFetch({ judge: judge(), limits, resolver: web.resolver, dialer: web.dialer });
  expect(await codeOf(get({ url: 'https://shop.test.invalid/' }, unknown))).toMatch(/^fetch_failed .*SELF_SIGNED/);
  expect(web.requests.map(({ isSecure }) => isSecure)).toEqual([true, true]);
});

test('sends a body once with its length; refuses unsupported methods and bodies', async () => {
  web.handle((request, response) => void response.end(`${request.method} ${request.body} ${request.headers['content-length']}`));
  const sent = await get({
    url: 'http://shop.test.invalid/',
    method: 'post',
    body: '{"a":"ü"}',
    headers: { 'content-type': 'application/json' },
  });
  expect(sent.body.toString()).toBe('POST {"a":"ü"} 10');
  const refused: Partial<FetchRequest>[] = [
    { method: 'CONNECT' },
    { method: 'GET / HTTP/1.1\r\nX: y\r\n' },
    { body: 'x' },
    { method: 'HEAD', body: '' },
  ];
  for (const request of refused) expect(await codeOf(get({ url: 'http://shop.test.invalid/', ...request }))).toBe('invalid_params');
  expect(web.requests).toHaveLength(1);
});

test.each([
  ['Host', 'other.test.invalid'],
  ['content-length', '3'],
  ['Transfer-Encoding', 'chunked'],
  ['connection', 'close, x-own'],
  ['proxy-authorization', 'Basic x'],
  ['X-Forwarded-For', '127.0.0.1'],
  ['expect', '100-continue'],
  ['x-a', 'b\r\nhost: other.test.invalid'],
  ['x-a', 'b\nc'],
  ['x-a', 'b\0c'],
  ['x-a', 'snow ☃'],
  ['x a', 'b'],
  ['x-a: b\r\nx-c', 'd'],
  ['', 'b'],
])('refuses the header %j: %j before it connects', async (name, value) => {
  expect(await codeOf(get({ url: 'http://shop.test.invalid/', headers: { [name]: value } }))).toBe('invalid_params');
  expect(web.dialled).toEqual([]);
});

test('refuses repeated headers and too many headers', async () => {
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`x-${index}`, '1']));
  for (const headers of [{ 'X-A': '1', 'x-a': '2' }, many, { 'x-a': 'b'.repeat(16_001) }])
    expect(await codeOf(get({ url: 'http://shop.test.invalid/', headers }))).toBe('invalid_params');
  expect(web.dialled).toEqual([]);
});

const redirectTo =
  (to: string, status = 302): WebHandler =>
  (request, response) => {
    if (request.path !== '/go') return void response.end(`at ${request.host}${request.path}`);
    response.writeHead(status, { location: to });
    response.end('moved');
  };

test('follows redirects on the same host; to other hosts only if the caller allows', async () => {
  web.handle(redirectTo('/b'));
  expect(await get({ url: 'http://shop.test.invalid/go' })).toMatchObject({ url: 'http://shop.test.invalid/b', redirectTo: null });
  web.handle(redirectTo('https://shop.test.invalid/c'));
  expect(await get({ url: 'http://shop.test.invalid/go' })).toMatchObject({ url: 'https://shop.test.invalid/c', redirectTo: null });
  web.handle(redirectTo('http://www.shop.test.invalid/d'));
  expect(await get({ url: 'http://shop.test.invalid/go' })).toMatchObject({
    url: 'http://www.shop.test.invalid/d',
    hosts: ['shop.test.invalid', 'www.shop.test.invalid'],
  });
  web.handle(redirectTo('http://other.test.invalid/e'));
  const { body, ...stopped } = await get({ url: 'http://shop.test.invalid/go' });
  expect(stopped).toMatchObject({ status: 302, url: 'http://shop.test.invalid/go', redirectTo: 'http://other.test.invalid/e' });
  expect(body.length).toBe(0);
  expect(web.requests.at(-1)?.host).toBe('shop.test.invalid');
  const followed = await get({ url: 'http://shop.test.invalid/go', mayFollow: ({ to }) => to.hostname === 'other.test.invalid' });
  expect(followed).toMatchObject({ url: 'http://other.test.invalid/e', hosts: ['shop.test.invalid', 'other.test.invalid'] });
  const listed: boolean[] = [];
  web.handle(redirectTo('http://listed.test.invalid/'));
  await get(
    { url: 'http://shop.test.invalid/go', mayFollow: ({ isListed }) => listed.push(isListed) === 0 },
    open({}, judge(['listed.test.invalid'])),
  );
  expect(listed).toEqual([true]);
});

test('follows at most five redirects, and none from https to http', async () => {
  web.handle((request, response) => {
    const left = Number(request.path.slice(1));
    if (left === 0) return void response.end('there');
    response.writeHead(302, { location: `/${left - 1}` });
    response.end();
  });
  expect((await get({ url: 'http://shop.test.invalid/5' })).body.toString()).toBe('there');
  expect(await codeOf(get({ url: 'http://shop.test.invalid/6' }))).toBe('fetch_failed redirects');
  web.handle(redirectTo('http://shop.test.invalid/'));
  expect(await codeOf(get({ url: 'https://shop.test.invalid/go' }))).toBe('address_refused');
  web.handle(redirectTo('http://[nonsense'));
  expect(await codeOf(get({ url: 'http://shop.test.invalid/go' }))).toBe('fetch_failed location');
});

test('drops headers at a redirect to another origin and does not restore them', async () => {
  web.handle((request, response) => {
    const next: Readonly<Record<string, string>> = { '/go': 'http://other.test.invalid/there', '/there': 'http://shop.test.invalid/back' };
    const to = next[request.path];
    if (to === undefined) return void response.end();
    response.writeHead(302, { location: to, 'set-cookie': 'kept=1' });
    response.end();
  });
  const headers = { authorization: 'Bearer key', cookie: 'a=b', 'x-api-key': 'key', 'x-own': 'mine' };
  await get({ url: 'http://shop.test.invalid/go', headers, mayFollow: () => true });
  expect(web.requests.map((request) => [request.host, ...Object.keys(headers).map((name) => request.headers[name])])).toEqual([
    ['shop.test.invalid', ...Object.values(headers)],
    ['other.test.invalid', undefined, undefined, undefined, undefined],
    ['shop.test.invalid', undefined, undefined, undefined, undefined],
  ]);
});

test('sends no body to another origin, nor when a redirect turns a request into GET', async () => {
  const post = {
    url: 'http://shop.test.invalid/go',
    method: 'POST',
    body: 'secret',
    headers: { 'content-type': 'text/plain', 'x-own': '1' },
  };
  for (const status of [307, 308]) {
    web.handle(redirectTo('http://other.test.invalid/', status));
    expect(await codeOf(get({ ...post, mayFollow: () => true }))).toBe('address_refused');
    web.handle(redirectTo('/again', status));
    await get(post);
    expect(web.requests.at(-1)).toMatchObject({ method: 'POST', body: 'secret', path: '/again' });
  }
  for (const status of [301, 302, 303]) {
    web.handle(redirectTo('/seen', status));
    await get(post);
    const { method, body, headers } = web.requests.at(-1) ?? {};
    expect([method, body, headers?.['content-type'], headers?.['x-own']]).toEqual(['GET', '', undefined, '1']);
  }
  expect(web.requests.filter(({ host }) => host === 'other.test.invalid')).toEqual([]);
});

test('ignores proxies set in the environment', async () => {
  web.handle((_request, response) => void response.end('direct'));
  for (const name of ['http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:9');
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  try {
    expect((await get({ url: 'http://shop.test.invalid/' })).body.toString()).toBe('direct');
    expect(web.dialled).toEqual([`${shop}:80`]);
  } finally {
    vi.unstubAllEnvs();
  }
});

test('reaches a host the person listed and sends its port in the Host header', async () => {
  const { createServer } = await import('node:http');
  const seen: (string | undefined)[] = [];
  const dev = createServer((request, response) => {
    seen.push(request.headers.host);
    response.end('dev');
  });
  await new Promise<void>((resolve) => dev.listen(0, '127.0.0.1', resolve));
  const { port } = dev.address() as { port: number };
  const real = new GuardedFetch({ judge: judge([`127.0.0.1:${port}`]), limits });
  expect((await get({ url: `http://127.0.0.1:${port}/` }, real)).body.toString()).toBe('dev');
  expect(await codeOf(get({ url: `http://localhost:${port}/` }, real))).toBe('address_refused');
  const named = new GuardedFetch({ judge: judge([`localhost:${port}`]), limits });
  expect((await get({ url: `http://localhost:${port}/` }, named)).body.toString()).toBe('dev');
  expect(await codeOf(get({ url: `http://127.0.0.1:${port}/` }, named))).toBe('address_refused');
  expect(seen).toEqual([`127.0.0.1:${port}`, `localhost:${port}`]);
  await new Promise((resolve) => dev.close(resolve));
  expect(await codeOf(get({ url: `http://127.0.0.1:${port}/` }, real))).toBe('fetch_failed ECONNREFUSED');
});
