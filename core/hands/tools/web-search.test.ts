import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { systemClock } from '../../base/clock.ts';
import type { Config } from '../../contracts/config.ts';
import { configSchema } from '../../contracts/config.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { OneOriginCheck, SafetyChecks } from '../../guard/safety/safety.ts';
import { createToolBench, type ToolBench } from '../../../tests/rigs/tool-bench.ts';
import { ToolHost } from './tools.ts';
import { createWebTools } from './web-tools.ts';

type Search = NonNullable<Config['web']['search']>;
type Answer = (
  query: URLSearchParams,
  request: { headers: IncomingMessage['headers']; method: string; body: string },
  response: ServerResponse,
) => void;

const key = 'search-key-nobody-may-see';
const limits = { connectMs: 3_000, headersMs: 3_000, idleMs: 3_000, totalMs: 3_000, bytesMax: 100_000 };

/** Doubles of the four services by their paths, according to their documentation. */
const answers: Readonly<Record<string, Answer>> = {
  '/res/v1/web/search': (query, { headers, method }, response) => {
    if (headers['x-subscription-token'] !== key)
      return reply(response, 401, { type: 'ErrorResponse', error: { code: 'SUBSCRIPTION_TOKEN_INVALID', status: 401 } });
    if (query.get('q') === 'too much') return reply(response, 429, { type: 'ErrorResponse', error: { code: 'RATE_LIMITED', status: 429 } });
    const results = [
      {
        title: `${method} &amp; <strong>${query.get('q')}</strong>`,
        url: 'https://one.test.invalid/a',
        description: 'An <strong>excerpt</strong>\u200b.',
        page_age: '2026-01-02T03:04:05',
        language: 'en',
        meta_url: { hostname: 'one.test.invalid' },
      },
      { title: 'Bad', url: 'javascript:alert(1)', description: '' },
      { title: '', url: 'https://two.test.invalid/', description: 'x'.repeat(900) },
    ];
    reply(response, 200, { query: { original: query.get('q') }, web: { results } });
  },
  '/search': (query, { headers, method, body }, response) => {
    if (method === 'POST') {
      const asked = JSON.parse(body) as { query: string; max_results: number; search_depth: string };
      if (headers['authorization'] !== `Bearer ${key}`) return reply(response, 401, { detail: { error: 'Unauthorized' } });
      if (asked.query === 'too much') return reply(response, 432, { detail: { error: 'plan' } });
      const result = {
        title: `${asked.query} ${asked.max_results} ${asked.search_depth}`,
        url: 'https://one.test.invalid/',
        content: 'Text.',
        score: 0.9,
        published_date: 'Mon',
      };
      return reply(response, 200, { query: asked.query, images: [], results: [result], response_time: 1, request_id: 'r' });
    }
    if (query.get('q') === 'forbidden') return reply(response, 403, 'Forbidden');
    if (query.get('q') === 'html') return reply(response, 200, '<html>');
    if (query.get('q') === 'elsewhere') return void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
    if (query.get('q') === 'endless') return reply(response, 200, 'x'.repeat(200_000));
    const results = [
      {
        title: `${query.get('format')} ${query.get('q')}`,
        url: 'https://one.test.invalid/',
        content: 'Text.',
        engine: 'x',
        score: 1,
        publishedDate: null,
      },
    ];
    reply(response, 200, { query: query.get('q'), number_of_results: 0, results, answers: [], suggestions: [], unresponsive_engines: [] });
  },
  '/html/': (query, _request, response) => {
    const wall = '<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>';
    const led = `//duckduckgo.com/l/?uddg=${encodeURIComponent('https://one.test.invalid/?a=b')}&amp;rut=1`;
    const page = `<div class="result results_links"><a class="result__a" href="${led}">${query.get('q')}</a><a class="result__snippet">Some <b>text</b></a></div>`;
    reply(response, query.get('q') === 'wall' ? 202 : 200, query.get('q') === 'wall' ? wall : page);
  },
};

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': typeof body === 'string' ? 'text/html' : 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://x');
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const seen = { headers: request.headers, method: request.method ?? '', body: Buffer.concat(parts).toString() };
    (answers[url.pathname] ?? (() => reply(response, 404, 'nothing')))(url.searchParams, seen, response);
  });
});
let base: string;
let bench: ToolBench;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  bench = createToolBench();
});
afterAll(async () => {
  await bench.dispose();
  await new Promise((resolve) => server.close(resolve));
});

/** A host with the web tools, composed for this choice of service. */
function hostFor(search: Search | undefined, secret = key): ToolHost {
  const config = { ...configSchema.parse({}).web, ...(search === undefined ? {} : { search }) };
  const http = new GuardedFetch({ judge: new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } }), limits });
  const searchHttp = search?.baseUrl === undefined ? http : new GuardedFetch({ judge: new OneOriginCheck(search.baseUrl), limits });
  const secrets = { resolve: () => Promise.resolve(secret) };
  const tools = createWebTools({ http, searchHttp, secrets, config, redact: (text) => text }, 40_000);
  return new ToolHost({ tools, clock: systemClock, logger: silentLogger, outputBytesMax: 40_000, artifacts: bench.artifacts });
}

async function searchWith(search: Search, args: Record<string, unknown>, secret = key) {
  const host = hostFor(search, secret);
  const parsed = host.parse('web_search', JSON.stringify(args));
  if (!parsed.ok) throw parsed.error;
  const { outcome, forModel } = await host.run(parsed.value, bench.context());
  return { outcome, forModel, facts: parsed.value.tool.facts(parsed.value.args, bench.context()) };
}

const inside = (text: string): string[] => text.split('\n').slice(2, -1);

test('Brave: sends its key, and removes its match marks', async () => {
  const { outcome, forModel, facts } = await searchWith(
    { provider: 'brave', apiKey: 'keychain:brave', baseUrl: base },
    { query: 'mills & rivers', count: 3 },
  );
  expect(outcome).toBe('ok');
  expect(forModel.split('\n')[0]).toBe('2 results from Brave Search for "mills & rivers":');
  expect(inside(forModel)).toEqual([
    '1. GET & mills & rivers',
    '   https://one.test.invalid/a',
    '   2026-01-02T03:04:05',
    '   An excerpt.',
    '2. (no title)',
    '   https://two.test.invalid/',
    `   ${'x'.repeat(500)}`,
  ]);
  expect(facts).toEqual({
    class: 'network',
    paths: [],
    command: null,
    hosts: ['127.0.0.1'],
    risks: ['The connection to 127.0.0.1 is not encrypted.'],
    request: { method: 'GET', url: `${base}/res/v1/web/search?q=mills+%26+rivers&count=3`, reads: true },
  });
});

test('Tavily, SearXNG and DuckDuckGo: requests and answers in their formats', async () => {
  const tavily = await searchWith({ provider: 'tavily', apiKey: 'env:TAVILY', baseUrl: base }, { query: 'mills', count: 4 });
  expect(inside(tavily.forModel)).toEqual(['1. mills 4 basic', '   https://one.test.invalid/', '   Mon', '   Text.']);
  expect(tavily.facts.request).toEqual({ method: 'POST', url: `${base}/search`, reads: true });
  const searxng = await searchWith({ provider: 'searxng', baseUrl: `${base}/` }, { query: 'mills' });
  expect(inside(searxng.forModel)).toEqual(['1. json mills', '   https://one.test.invalid/', '   Text.']);
  const duck = await searchWith({ provider: 'duckduckgo', baseUrl: base }, { query: 'mills' });
  expect(inside(duck.forModel)).toEqual(['1. mills', '   https://one.test.invalid/?a=b', '   Some text']);
});

test.each([
  ['brave', 'x', 'Brave Search refused the key (401).', 'wrong-key'],
  ['brave', 'too much', 'Brave Search has had enough queries for now (429).', key],
  ['tavily', 'x', 'Tavily refused the key (401).', 'wrong-key'],
  ['tavily', 'too much', 'Tavily says the plan is used up (432).', key],
  ['searxng', 'forbidden', 'SearXNG does not answer in JSON: add json to search.formats in its settings.yml (403).', key],
  ['searxng', 'html', 'SearXNG answered in a form that is not its own. Check web.search.baseUrl in config.yaml.', key],
  ['searxng', 'elsewhere', 'http://127.0.0.1:9/ was not fetched. Only', key],
  ['searxng', 'endless', 'SearXNG answered with more than is read. Raise web.bytesMax in config.yaml.', key],
  [
    'duckduckgo',
    'wall',
    'DuckDuckGo wants a proof of being human and gave no results. Wait a while, or set another web.search.provider.',
    key,
  ],
] as const)('%s, %s: %s', async (provider, query, expected, secret) => {
  const { outcome, forModel } = await searchWith({ provider, apiKey: 'env:KEY', baseUrl: base }, { query }, secret);
  expect(outcome).toBe('error');
  expect(forModel.startsWith(expected)).toBe(true);
  expect(forModel).not.toContain(secret);
});

test('no search without a chosen service; the default base address is a public one', async () => {
  expect(hostFor(undefined).has('web_search')).toBe(false);
  const hosts = (['brave', 'tavily', 'duckduckgo'] as const).map((provider) => {
    const parsed = hostFor({ provider, apiKey: 'env:KEY' }).parse('web_search', '{"query":"x"}');
    if (!parsed.ok) throw parsed.error;
    return parsed.value.tool.facts(parsed.value.args, bench.context()).hosts[0];
  });
  expect(hosts).toEqual(['api.search.brave.com', 'api.tavily.com', 'html.duckduckgo.com']);
});

test('settings must have a key or an address if the service requires one', () => {
  const accepts = (search: unknown): boolean => configSchema.safeParse({ web: { search } }).success;
  expect(
    [
      { provider: 'duckduckgo' },
      { provider: 'searxng', baseUrl: 'http://localhost:8888' },
      { provider: 'brave', apiKey: 'keychain:brave' },
      { provider: 'brave' },
      { provider: 'tavily', apiKey: 'tvly-the-key-itself' },
      { provider: 'searxng' },
      { provider: 'searxng', baseUrl: 'file:///etc' },
      { provider: 'duckduckgo', apiKey: 'env:X' },
      { provider: 'other' },
    ].map(accepts),
  ).toEqual([true, true, true, false, false, false, false, false, false]);
});
