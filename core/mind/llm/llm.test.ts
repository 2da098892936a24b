import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { configSchema, type ProviderConfig } from '../../contracts/config.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import {
  assistant,
  createRequest,
  createRouter,
  failureOf,
  readFixture,
  RecordingSink,
  result,
  user,
} from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer, type Script } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';
import { estimateTokens, type ModelRouter } from './llm.ts';

const never = new AbortController().signal;
const text = readFixture('openai-text.txt');
const ok: Script = { chunks: [text] };
const rateLimited = (headers: Record<string, string>): Script => ({
  status: 429,
  headers,
  chunks: ['{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}'],
});

function routerTo(url: string, models: object = {}, deps: Parameters<typeof createRouter>[1] = {}, extra: object = {}): ModelRouter {
  return createRouter(
    { providers: { lab: { kind: 'openai-compatible', baseUrl: `${url}/v1`, apiKey: 'env:KEY', ...extra } }, models },
    deps,
  );
}

function ask(router: ModelRouter, sink = new RecordingSink(), signal: AbortSignal = never, messages: ChatMessage[] = [user('hi')]) {
  return router.stream('lab/m', createRequest(messages), sink, { signal });
}

test('a reply streams through, with its usage and the time to its first token', async () => {
  await using server = await ScriptedServer.start(ok);
  const router = routerTo(server.url, {}, {}, { headers: { 'X-Team': 'blue' } });
  const sink = new RecordingSink();
  const reply = await ask(router, sink);
  await router.close();
  expect(reply).toEqual({
    text: 'Grüße aus 東京 🚀!',
    reasoning: '',
    calls: [],
    usage: { inputTokens: 1200, outputTokens: 9, cachedInputTokens: 1024 },
    usageReported: true,
    finishReason: 'stop',
    firstTokenMs: expect.any(Number) as number,
  });
  expect(sink.texts.join('')).toBe(reply.text);
  const [seen] = server.seen;
  expect(seen?.path).toBe('/v1/chat/completions');
  expect(seen?.headers).toMatchObject({ authorization: 'Bearer sk-very-secret-key', 'x-team': 'blue', 'content-type': 'application/json' });
});

test.each([
  ['http://h', '/v1/messages'],
  ['http://h/v1', '/v1/messages'],
  ['http://h/proxy/v1/', '/proxy/v1/messages'],
])('Anthropic at %s is called at %s, with its headers', async (baseUrl, path) => {
  await using server = await ScriptedServer.start({ chunks: [readFixture('anthropic-tool-call.txt')] });
  const router = createRouter({
    providers: { lab: { kind: 'anthropic', apiKey: 'env:KEY', baseUrl: baseUrl.replace('http://h', server.url) } },
  });
  expect(await ask(router)).toMatchObject({ calls: [{ id: 'toolu_01' }], finishReason: 'tool_calls' });
  await router.close();
  expect(server.seen[0]?.path).toBe(path);
  expect(server.seen[0]?.headers).toMatchObject({ 'x-api-key': 'sk-very-secret-key', 'anthropic-version': '2023-06-01' });
});

test('signed thinking is sent back with its call', async () => {
  await using server = await ScriptedServer.start(
    { chunks: [readFixture('anthropic-thinking.txt')] },
    { chunks: [readFixture('anthropic-text.txt')] },
  );
  const router = createRouter({ providers: { lab: { kind: 'anthropic', apiKey: 'env:KEY', baseUrl: server.url } } });
  const messages = [user('look')];
  const first = await ask(router, new RecordingSink(), never, messages);
  messages.push({ role: 'assistant', text: first.text, calls: first.calls }, result('toolu_t', 'a.txt'));
  await ask(router, new RecordingSink(), never, messages);
  await router.close();
  const body = JSON.parse(server.seen[1]?.body ?? '{}') as { messages: { content: unknown }[] };
  expect(body.messages[1]?.content).toEqual([
    { type: 'thinking', thinking: 'I should look.', signature: 'EqQBCgIYAhIM' },
    { type: 'redacted_thinking', data: 'abc=' },
    { type: 'tool_use', id: 'toolu_t', name: 'list_dir', input: {} },
  ]);
});

test.each([
  ['openai-compatible', 'openai-whole.txt'],
  ['anthropic', 'anthropic-whole.txt'],
] as const)('%s: reads one JSON document instead of a stream', async (kind, fixture) => {
  await using server = await ScriptedServer.start({ chunks: [readFixture(fixture)], headers: { 'content-type': 'application/json' } });
  const router = createRouter({ providers: { lab: { kind, apiKey: 'env:KEY', baseUrl: `${server.url}/v1` } } });
  expect(await ask(router)).toMatchObject({
    text: 'All at once.',
    calls: [{ tool: 'calc', args: '{"expression":"1+1"}' }],
    usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0 },
    finishReason: 'tool_calls',
  });
  await router.close();
});

test('missing usage is estimated; invented ids never collide with the conversation', async () => {
  const call =
    '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"old","function":{"name":"t","arguments":""}},{"index":1,"function":{"name":"t"}}]},"finish_reason":"stop"}]}';
  await using server = await ScriptedServer.start({ chunks: [`data: ${call}\n\ndata: [DONE]\n\n`] });
  const router = routerTo(server.url);
  const reply = await ask(router, new RecordingSink(), never, [user('hi'), assistant('', 'old'), result('old', 'x')]);
  await router.close();
  expect(reply.calls).toEqual([
    { id: 'old_2', tool: 't', args: '{}' },
    { id: 'made_1', tool: 't', args: '{}' },
  ]);
  expect(reply.usageReported).toBe(false);
  expect(reply.usage.inputTokens).toBe(Math.ceil((server.seen[0]?.body.length ?? 0) / 4));
});

test('waits as long as the server asks, then answers', async () => {
  await using server = await ScriptedServer.start(
    rateLimited({ 'retry-after': '2' }),
    rateLimited({ 'retry-after-ms': '250' }),
    rateLimited({ 'retry-after': '170' }),
    ok,
  );
  const waits: number[] = [];
  const retries: unknown[] = [];
  const router = routerTo(server.url, { retries: 3 }, { sleep: (ms) => (waits.push(ms), Promise.resolve(true)) });
  const options = { signal: never, onRetry: (info: object) => void retries.push(info) };
  const reply = await router.stream('lab/m', createRequest([user('hi')]), new RecordingSink(), options);
  await router.close();
  expect(reply.text).toBe('Grüße aus 東京 🚀!');
  expect(waits).toEqual([2000, 250, 170_000]);
  expect(retries).toMatchObject([
    { attempt: 1, waitMs: 2000, error: { code: 'model_rate_limited' } },
    { attempt: 2, waitMs: 250 },
    { attempt: 3, waitMs: 170_000 },
  ]);
  expect(new Set(server.seen.map((seen) => seen.body)).size).toBe(1);
});

test.each([
  ['999999', '12 days'],
  ['7000', '117 minutes'],
  ['90000', '25 hours'],
])('if a server asks to wait %s seconds, it is not retried, and the error says so', async (seconds, told) => {
  await using server = await ScriptedServer.start(rateLimited({ 'retry-after': seconds }), ok);
  const waits: number[] = [];
  const router = routerTo(server.url, { retries: 3 }, { sleep: (ms) => (waits.push(ms), Promise.resolve(true)) });
  const error = await failureOf(ask(router));
  await router.close();
  expect(error.code).toBe('model_rate_limited');
  expect(error.hint).toBe(`It asks to be left alone for ${told}. Try again then, or choose another model; the conversation is kept.`);
  expect([waits, server.seen.length]).toEqual([[], 1]);
});

test('backs off exponentially, with jitter, up to the configured retries', async () => {
  await using server = await ScriptedServer.start({ status: 503, chunks: ['{}'] });
  const waits: number[] = [];
  const router = routerTo(server.url, { retries: 3 }, { sleep: (ms) => (waits.push(ms), Promise.resolve(true)) });
  expect((await failureOf(ask(router))).code).toBe('model_unavailable');
  await router.close();
  expect(waits).toEqual([375, 750, 1500]);
  expect(server.seen).toHaveLength(4);
});

test.each([
  [400, '{"error":{"message":"bad","code":"invalid_value"}}', 'model_rejected'],
  [401, '{"error":{"message":"Incorrect API key provided: sk-very-secret-key","code":"invalid_api_key"}}', 'model_auth'],
  [429, '{"error":{"message":"no credit","code":"insufficient_quota"}}', 'model_quota'],
])('HTTP %s %s is not retried', async (status, body, code) => {
  await using server = await ScriptedServer.start({ status, chunks: [body] });
  const router = routerTo(server.url, { retries: 5 });
  const error = await failureOf(ask(router));
  await router.close();
  expect(error.code).toBe(code);
  expect(JSON.stringify(error.toBody())).not.toContain('sk-very-secret-key');
  expect(server.seen).toHaveLength(1);
});

test.each([
  ['openai-cut-off.txt', 'model_cut_off', 'end'],
  ['openai-cut-off.txt', 'model_cut_off', 'drop'],
  ['openai-error-midstream.txt', 'model_unavailable', 'end'],
] as const)('%s fails with %s (%s) and is not retried once text was shown', async (fixture, code, after) => {
  await using server = await ScriptedServer.start({ chunks: [readFixture(fixture)], after });
  const router = routerTo(server.url, { retries: 3 });
  const sink = new RecordingSink();
  expect((await failureOf(ask(router, sink))).code).toBe(code);
  await router.close();
  expect(sink.texts[0]).toBe('So far ');
  expect(server.seen).toHaveLength(1);
});

test('an answer that broke off before anything was shown is requested again', async () => {
  await using server = await ScriptedServer.start(
    { chunks: [': hello\n\n'], after: 'drop' },
    { chunks: ['<html>nope</html>'] },
    { chunks: [''] },
    ok,
  );
  const router = routerTo(server.url, { retries: 3 });
  expect((await ask(router)).text).toBe('Grüße aus 東京 🚀!');
  await router.close();
  expect(server.seen).toHaveLength(4);
});

test('an absent server is reported with its address', async () => {
  const server = await ScriptedServer.start(ok);
  const { url } = server;
  await server.close();
  const error = await failureOf(ask(routerTo(url, { retries: 0 })));
  expect(error.toBody()).toEqual({
    code: 'model_unavailable',
    message: `Nothing answers at ${url} (lab).`,
    hint: 'Check that the model server is running and reachable, then try again.',
    data: { provider: 'lab', networkCode: 'ECONNREFUSED' },
  });
});

test('connecting has a separate limit', async () => {
  // Accepts connections and never speaks TLS.
  const silent = createServer((socket) => socket.resume().on('error', () => undefined));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  const router = createRouter({
    providers: { lab: { kind: 'openai-compatible', baseUrl } },
    models: { retries: 0, timeouts: { connectMs: 40 } },
  });
  const error = await failureOf(ask(router));
  await router.close();
  await new Promise((resolve) => silent.close(resolve));
  expect(error).toMatchObject({ code: 'model_timeout', data: { networkCode: 'UND_ERR_CONNECT_TIMEOUT' } });
});

const slow = (chunks: string[]): Script => ({ chunks, after: 'hang' });
test.each([
  ['no head at all', { after: 'wait' } as const, { firstTokenMs: 40 }, 'has not begun to answer'],
  ['only pings', slow([': ping\n\n']), { firstTokenMs: 40 }, 'has not begun to answer'],
  ['silence in the middle', slow([readFixture('anthropic-cut-off.txt'), text.slice(0, 500)]), { idleMs: 40 }, 'stopped in the middle'],
  ['no end in sight', slow([text.slice(0, 500)]), { totalMs: 60 }, 'has not finished'],
])('fails with model_timeout: %s', async (what, script, timeouts, sentence) => {
  await using server = await ScriptedServer.start(script);
  const kind = what === 'silence in the middle' ? 'anthropic' : 'openai-compatible';
  const router = createRouter({ providers: { lab: { kind, baseUrl: server.url, apiKey: 'env:KEY' } }, models: { retries: 0, timeouts } });
  const error = await failureOf(ask(router));
  await router.close();
  expect(error.code).toBe('model_timeout');
  expect(error.message).toContain(sentence);
});

test('long calls are not idle time: their bytes keep the answer alive', async () => {
  const pieces = Array.from(
    { length: 8 },
    () => 'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":" "}}]}}]}\n\n',
  );
  const begin = 'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"t","arguments":"{"}}]}}]}\n\n';
  const end = 'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n';
  await using server = await ScriptedServer.start({ chunks: [begin, ...pieces, end], pauseMs: 60 });
  const router = routerTo(server.url, { retries: 0, timeouts: { idleMs: 400, firstTokenMs: 5_000 } });
  const reply = await ask(router);
  await router.close();
  expect(reply.firstTokenMs).not.toBeNull();
  expect(reply.calls).toHaveLength(1);
});

test('the total limit includes waits between retries', async () => {
  await using server = await ScriptedServer.start(rateLimited({ 'retry-after': '30' }));
  const config = { providers: { lab: { kind: 'openai-compatible' as const, baseUrl: server.url } }, models: { timeouts: { totalMs: 80 } } };
  const { sleep } = await import('../../base/waits.ts');
  const router = createRouter(config, { sleep });
  const error = await failureOf(ask(router));
  await router.close();
  expect(error).toMatchObject({ code: 'model_timeout', message: 'lab/m has not finished its answer within 80 ms.' });
});

test('abort works before the call, before the head, mid-answer and during back-off', async () => {
  await using server = await ScriptedServer.start(slow([text.slice(0, 500)]));
  const router = routerTo(server.url);
  expect((await failureOf(ask(router, new RecordingSink(), AbortSignal.abort()))).code).toBe('cancelled');
  expect(server.seen).toHaveLength(0);

  const middle = new AbortController();
  const sink = new RecordingSink();
  const stopping = { text: (delta: string) => (sink.text(delta), middle.abort()) };
  expect((await failureOf(router.stream('lab/m', createRequest([user('x')]), stopping, { signal: middle.signal }))).code).toBe('cancelled');
  expect(sink.texts).toHaveLength(1);

  server.script({ after: 'wait' });
  const early = new AbortController();
  const pending = failureOf(ask(router, new RecordingSink(), early.signal));
  setTimeout(() => early.abort(), 20);
  expect((await pending).code).toBe('cancelled');

  server.script(rateLimited({ 'retry-after': '30' }));
  const waiting = new AbortController();
  const options = { signal: waiting.signal, onRetry: () => waiting.abort() };
  expect((await failureOf(router.stream('lab/m', createRequest([user('x')]), sink, options))).code).toBe('cancelled');
  await router.close();
});

test('two concurrent calls over the same messages get complete bodies each', async () => {
  await using server = await ScriptedServer.start({ after: 'wait' }, { after: 'wait' }, ok);
  const router = routerTo(server.url);
  const stop = new AbortController();
  const messages: ChatMessage[] = [user('one '.repeat(500_000))];
  const request = createRequest(messages);
  const held = [1, 2].map(() => failureOf(router.stream('lab/m', request, new RecordingSink(), { signal: stop.signal })));
  await server.whenSeen(2);
  messages.push(assistant('two'), user('three'));
  await router.stream('lab/m', request, new RecordingSink(), { signal: never });
  stop.abort();
  expect((await Promise.all(held)).map((error) => error.code)).toEqual(['cancelled', 'cancelled']);
  await router.close();
  const sizes = server.seen.map((seen) => (JSON.parse(seen.body) as { messages: unknown[] }).messages.length);
  expect(sizes).toEqual([2, 2, 4]);
});

test('a refused key is resolved again at the next call', async () => {
  await using server = await ScriptedServer.start({ status: 401, chunks: ['{}'] }, ok);
  const keys = ['old-key-1', 'new-key-2'];
  const router = routerTo(server.url, {}, { secrets: { resolve: () => Promise.resolve(keys.shift() ?? '') } });
  expect((await failureOf(ask(router))).code).toBe('model_auth');
  await ask(router);
  await router.close();
  expect(server.seen.map((seen) => seen.headers.authorization)).toEqual(['Bearer old-key-1', 'Bearer new-key-2']);
});

test('an unknown provider and a missing secret fail with their errors', async () => {
  const router = createRouter({});
  expect(await failureOf(router.stream('nobody/m', createRequest([]), new RecordingSink(), { signal: never }))).toMatchObject({
    code: 'model_unknown',
    message: 'There is no provider "nobody" in config.yaml.',
  });
});

test('reports the default model and its known properties', () => {
  const lab: ProviderConfig = { kind: 'openai-compatible', baseUrl: 'https://models.example.org/v1' };
  const prices = { 'big-1': { inputUsdPerMillion: 3, outputUsdPerMillion: 15, cachedInputUsdPerMillion: 0.3 } };
  expect(createRouter({}).defaultRef()).toBe('demo/offline');
  expect(createRouter({ providers: { lab } }).defaultRef()).toBeNull();
  expect(createRouter({ providers: { lab, priced: { ...lab, prices } } }).defaultRef()).toBe('priced/big-1');
  expect(createRouter({ providers: { cloud: { kind: 'anthropic', apiKey: 'env:KEY' } } }).defaultRef()).toBe('cloud/claude-sonnet-5-5');
  expect(createRouter({ providers: { lab: { ...lab, prices } }, models: { default: 'lab/other' } }).defaultRef()).toBe('lab/other');

  const router = createRouter({
    providers: { lab: { ...lab, prices }, near: { ...lab, baseUrl: 'http://127.0.0.1:9/v1', contextTokens: 9000 } },
  });
  expect(router.info('lab/big-1')).toEqual({
    ref: 'lab/big-1',
    contextTokens: 128_000,
    inputUsdPerMillion: 3,
    cachedInputUsdPerMillion: 0.3,
    outputUsdPerMillion: 15,
  });
  expect(['claude-x', 'gpt-6.2-sol'].map((id) => router.info(`lab/${id}`).contextTokens)).toEqual([200_000, 922_000]);
  expect(router.info('near/any')).toMatchObject({ contextTokens: 9000, inputUsdPerMillion: 0 });
  expect(router.cost('lab/big-1', { inputTokens: 1_000_000, outputTokens: 100_000, cachedInputTokens: 500_000 })).toBeCloseTo(3.15);
  expect(router.cost('lab/unpriced', { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 })).toBeNull();
  expect(router.cost('demo/offline', { inputTokens: 5, outputTokens: 5, cachedInputTokens: 0 })).toBe(0);
  const known = { contextTokens: 128_000, inputUsdPerMillion: 3, outputUsdPerMillion: 15 };
  const demo = { contextTokens: 32_768, inputUsdPerMillion: 0, outputUsdPerMillion: 0 };
  expect(router.list()).toEqual({
    models: [
      { ref: 'lab/big-1', provider: 'lab', kind: 'openai-compatible', isDefault: true, source: 'configured', ...known },
      { ref: 'demo/offline', provider: 'demo', kind: 'demo', isDefault: false, source: 'built in', ...demo },
    ],
    defaultModel: 'lab/big-1',
    problem: null,
    failed: [],
    offers: [],
  });
});

test('providers can change at run time, and a moved key is resolved again', async () => {
  await using server = await ScriptedServer.start(ok, ok);
  const lab: ProviderConfig = { kind: 'openai-compatible', baseUrl: `${server.url}/v1`, apiKey: 'env:NEW' };
  const router = routerTo(server.url, {}, { secrets: { resolve: (ref) => Promise.resolve(`key-of-${ref}`) } });
  await ask(router);
  const { models } = configSchema.parse({ models: { default: 'lab/other' } });
  router.configure({ models, providers: { lab } });
  expect(router.defaultRef()).toBe('lab/other');
  await router.stream('lab/other', createRequest([]), new RecordingSink(), { signal: never });
  await router.close();
  expect(server.seen.map((seen) => seen.headers.authorization)).toEqual(['Bearer key-of-env:KEY', 'Bearer key-of-env:NEW']);
});

test.each([
  ['', 0],
  ['The quick brown fox jumps over the lazy dog.', 10],
  ['東京都は日本の首都である。', 10],
  ['Привет, как дела?', 7],
  ['🚀🚀', 5],
])('%j is about %s tokens', (given, expected) => {
  expect(estimateTokens(given)).toBe(expected);
});
