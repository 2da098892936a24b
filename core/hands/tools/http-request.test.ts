import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Web, type WebHandler } from '../../../tests/doubles/web/web.ts';
import { fenceText } from './web-fence.ts';
import { benchSecret as secret, createWebBench, listedHost, type WebBench } from '../../../tests/rigs/web-bench.ts';

let web: Web;
let bench: WebBench;
beforeAll(async () => {
  const names = ['test.invalid', 'www.test.invalid', 'api.test.invalid', 'other.test.invalid', listedHost];
  web = await Web.start({
    answers: Object.fromEntries(names.map((name) => [name, ['93.184.216.34']])),
    publicAddresses: ['93.184.216.34'],
  });
  bench = createWebBench(web);
});
afterAll(async () => {
  await bench.dispose();
  await web.dispose();
});
beforeEach(() => {
  web.reset();
  bench.artifacts.stored.clear();
});

const serve = (body: string | Buffer, headers: Record<string, string> = {}, status = 200): void => {
  web.handle((_request, response) => {
    response.writeHead(status, headers);
    response.end(body);
  });
};

const redirect =
  (to: string, status = 302): WebHandler =>
  (request, response) => {
    if (request.path === '/go') response.writeHead(status, { location: to });
    response.end(`at ${request.host}`);
  };

test('a request with a body is sent as given; status and headers return in the fence', async () => {
  web.handle((request, response) => {
    response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': 'session=abc', 'x-note': 'ignore \xa0 this' });
    response.end(JSON.stringify({ got: request.body, by: request.method }));
  });
  const args = { method: 'PUT', url: 'https://api.test.invalid/v1', headers: { 'Content-Type': 'text/plain' }, body: 'hëllo' };
  const result = await bench.run('http_request', args);
  const shown = [
    'content-type: application/json',
    'set-cookie: (not shown, not kept)',
    'x-note: ignore ? this',
    '',
    '{\n  "got": "hëllo",\n  "by": "PUT"\n}',
  ];
  expect(result).toEqual({
    forModel: `201 from https://api.test.invalid/v1\n${fenceText(shown.join('\n'), 'api.test.invalid')}`,
    isError: false,
    untrusted: [{ kind: 'web', where: 'api.test.invalid' }],
    artifacts: [],
  });
  expect(bench.factsOf('http_request', args)).toEqual({
    class: 'network',
    paths: [],
    command: null,
    hosts: ['api.test.invalid'],
    risks: ['It sends 6 bytes to api.test.invalid.'],
    request: { method: 'PUT', url: 'https://api.test.invalid/v1', reads: false },
  });
});

test.each([
  [{ method: 'GET' }, true, 'pure'],
  [{ method: 'HEAD', headers: { Accept: 'text/plain', range: 'bytes=0-9' } }, true, 'pure'],
  [{ method: 'GET', headers: { 'x-own': '1' } }, false, 'idempotent'],
  [{ method: 'GET', headers: { authorization: 'Bearer x' } }, false, 'idempotent'],
  [{ method: 'GET', headers: { accept: '{env:KEY}' } }, false, 'idempotent'],
  [{ method: 'POST' }, false, 'unsafe'],
  [{ method: 'OPTIONS' }, false, 'unsafe'],
  [{ method: 'DELETE' }, false, 'unsafe'],
])('%j: reads %s, %s', (args, reads, idempotency) => {
  const call = { url: 'https://test.invalid/', ...args };
  expect([bench.factsOf('http_request', call).request?.reads, bench.idempotencyOf('http_request', call)]).toEqual([reads, idempotency]);
});

test('a secret is inserted by name for the approved host, and never returned', async () => {
  web.handle((request, response) => {
    const given = request.headers['authorization'] ?? '';
    const encoded = Buffer.from(given.replace('Bearer ', '')).toString('base64');
    response.writeHead(200, { 'content-type': 'text/plain', 'x-echo': given });
    response.end(`you sent ${given} or ${encoded} or ${encodeURIComponent(given)}\n${'filler '.repeat(5_000)}`);
  });
  const args = {
    method: 'GET',
    url: 'https://api.test.invalid/me',
    headers: { Authorization: 'Bearer {keychain:api-key}', 'x-key': 'env:API_KEY' },
  };
  expect(bench.factsOf('http_request', args)).toMatchObject({
    class: 'credential',
    hosts: ['api.test.invalid'],
    risks: ['It shows api.test.invalid the secret keychain:api-key.', 'It shows api.test.invalid the secret env:API_KEY.'],
    request: { reads: false },
  });
  const result = await bench.run('http_request', { ...args, maxChars: 500 });
  expect(web.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${secret}`, 'x-key': secret });
  for (const text of [JSON.stringify(result), ...bench.artifactTexts()]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20));
    expect(text).toContain('[redacted:');
  }
  expect(bench.artifactTexts()).toHaveLength(1);
});

test.each([
  ['text/html', (given: string) => `<p>You sent ${given}</p>`],
  ['text/html', (given: string) => `<p>${given.replaceAll('_', '&#95;')}</p>`],
  ['application/json', (given: string) => JSON.stringify({ given }).replaceAll('_', '\\u005f')],
  ['text/plain', (given: string) => [...given].join('\u200b')],
])('a secret returned as %s is recognised, however it is written', async (type, write) => {
  web.handle((request, response) => {
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` });
    response.end(write(String(request.headers['x-key'])));
  });
  const { forModel } = await bench.run('http_request', { method: 'GET', url: 'https://test.invalid/', headers: { 'x-key': '{env:KEY}' } });
  expect(forModel.replaceAll(/\\|\u200b/g, '')).not.toContain(secret);
});

test('a secret is not sent after a redirect or over an unencrypted connection', async () => {
  const args = { method: 'GET', url: 'https://test.invalid/go', headers: { authorization: '{env:KEY}' } };
  for (const to of ['https://other.test.invalid/', 'https://listed.test.invalid/', 'https://www.test.invalid/']) {
    web.handle(redirect(to));
    expect((await bench.run('http_request', args)).forModel).toContain(`redirects to ${to}`);
  }
  expect(web.requests.map(({ host }) => host)).toEqual(Array(3).fill('test.invalid'));
  expect(() => bench.factsOf('http_request', { ...args, url: 'http://test.invalid/' })).toThrow(
    expect.objectContaining({ code: 'invalid_arguments' }),
  );
  expect(bench.factsOf('http_request', { ...args, url: 'http://127.0.0.1:3000/' }).class).toBe('credential');
});

test('binary content that contains a secret is not stored', async () => {
  web.handle((request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    response.end(`\0${String(request.headers['x-key'])}`);
  });
  const { forModel } = await bench.run('http_request', { method: 'GET', url: 'https://test.invalid/', headers: { 'x-key': '{env:KEY}' } });
  expect(forModel).toContain('holds a secret and was not kept');
  expect(bench.artifactTexts()).toEqual([]);
});

test('a missing secret, or one that would break the request, prevents the request', async () => {
  const call = (value: string) => bench.run('http_request', { method: 'GET', url: 'https://test.invalid/', headers: { 'x-key': value } });
  await expect(call('{keychain:none}')).rejects.toMatchObject({ code: 'secret_missing' });
  await expect(call('{env:BROKEN}')).rejects.toMatchObject({
    code: 'invalid_params',
    message: 'The secret for the header x-key holds a line break.',
  });
  expect(web.dialled).toEqual([]);
  serve('ok');
  await call('file:/etc/passwd and {file:/etc/passwd}');
  expect(web.requests[0]?.headers['x-key']).toBe('file:/etc/passwd and {file:/etc/passwd}');
});

test.each([
  [{ method: 'GET', body: 'x' }, 'body: a GET request has no body'],
  [{ method: 'TRACE' }, 'method must be one of GET, HEAD'],
  [{ method: 'GET', headers: { host: 'x' } }, 'is set by the client itself'],
  [{ method: 'GET', headers: { 'x-a': 'b\r\nc: d' } }, 'holds line breaks'],
])('%j is refused when it is parsed', (args, problem) => {
  const parsed = bench.host.parse('http_request', JSON.stringify({ url: 'https://test.invalid/', ...args }));
  expect(parsed.ok ? 'accepted' : parsed.error.message).toContain(problem);
});

test('a request that changes something follows redirects only on its own origin', async () => {
  const post = { method: 'POST', url: 'https://test.invalid/go', body: 'x' };
  web.handle(redirect('/done', 303));
  expect((await bench.run('http_request', post)).forModel).toMatch(/^200 from https:\/\/test\.invalid\/done/);
  web.handle(redirect('https://listed.test.invalid/done', 303));
  expect((await bench.run('http_request', post)).forModel).toBe(
    'test.invalid took the request, answered 303 and points to https://listed.test.invalid/done, which was not fetched. If its content is needed, call web_fetch with that URL.',
  );
  web.handle(redirect('https://other.test.invalid/', 307));
  await expect(bench.run('http_request', post)).rejects.toMatchObject({ code: 'address_refused' });
  expect(web.requests.every(({ host }) => host === 'test.invalid')).toBe(true);
});
