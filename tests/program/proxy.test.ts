// The program on a machine that reaches model servers only through a proxy with a password.

import { request as sendRequest } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { shop, startWeb } from '../doubles/web/egress-rig.ts';
import { TestProxy } from '../doubles/web/proxy.ts';
import { TestHome } from '../faults/test-home.ts';

const certificate = fileURLToPath(new URL('../doubles/web/cert.pem', import.meta.url));

async function open(scheme: 'http' | 'https', password = 'word') {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const model = await ScriptedModel.start([{ user: /hello/, answer: { text: 'Hello through the proxy.' } }]);
  onTestFinished(() => model.close());
  const web = await startWeb();
  onTestFinished(() => web.dispose());
  const proxy = await TestProxy.start(web, { names: { 'shop.test.invalid': shop }, user: 'me:word' });
  onTestFinished(() => proxy.dispose());
  web.handle(({ method, path, headers, body }, response) => {
    const onward = sendRequest(new URL(path, model.origin), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
  home.configure({
    models: { default: 'far/model' },
    providers: { far: { kind: 'openai-compatible', baseUrl: `${scheme}://shop.test.invalid/v1` } },
  });
  const variable = scheme === 'https' ? 'HTTPS_PROXY' : 'http_proxy';
  Object.assign(home.env, { [variable]: `http://me:${password}@127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: certificate });
  return { home, proxy, web };
}

test.each([
  ['https', /^CONNECT shop\.test\.invalid:443$/],
  ['http', /^(?:GET|POST) http:\/\/shop\.test\.invalid\/v1\//],
] as const)('a model server (%s) is asked through the proxy', async (scheme, seen) => {
  const { home, proxy, web } = await open(scheme);
  const { code, stdout } = await home.cli(['ask', 'hello']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Hello through the proxy.') });
  for (const line of proxy.seen) expect(line).toMatch(seen);
  expect(web.requests.map(({ path }) => path)).toContain('/v1/chat/completions');
  for (const { headers } of web.requests) expect(headers).not.toHaveProperty('proxy-authorization');
  expect((await home.cli(['models'])).code).toBe(0);
});

test('a wrong password of the proxy is named, and shown nowhere', async () => {
  const { home } = await open('https', 'wrong-word');
  const { code, stdout, stderr } = await home.cli(['ask', 'hello']);
  expect(code).toBe(1);
  expect(stdout + stderr).toMatch(/The proxy 127\.0\.0\.1:\d+ does not connect to shop\.test\.invalid \(status 407\)/);
  expect(stdout + stderr).toContain('http://user:password@host:port');
  expect(stdout + stderr).not.toContain('wrong-word');
});
