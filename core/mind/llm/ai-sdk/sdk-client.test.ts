// Tests real AI SDK packages in a data folder against an independent mock of the vendors' APIs and a strict server: a tool loop, errors,
// stopping, and packages that are missing or not a provider.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../../../../tests/doubles/scripted-model.ts';
import type { ConfigInput } from '../../../contracts/config.ts';
import type { ChatMessage } from '../../../contracts/llm.ts';
import { createRequest, createRouter, failureOf, note, RecordingSink, user } from '../../../../tests/rigs/core/mind/llm/conversation.ts';

type SdkInput = Extract<NonNullable<ConfigInput['providers']>[string], { kind: 'ai-sdk' }>;

const never = new AbortController().signal;
const mock = new LLMock({ port: 0, chunkSize: 8, host: '127.0.0.1' });
const home = mkdtempSync(join(tmpdir(), 'tc-'));

beforeAll(async () => {
  const modules = join(home, 'packages', 'node_modules');
  mkdirSync(join(modules, 'not-a-provider'), { recursive: true });
  symlinkSync(join(process.cwd(), 'node_modules', '@ai-sdk'), join(modules, '@ai-sdk'), 'junction');
  writeFileSync(join(modules, 'not-a-provider', 'index.js'), 'exports.hello = 1;');
  mock.on(
    { userMessage: 'weather', hasToolResult: false },
    { content: 'Let me check.', toolCalls: [{ id: 'call_w1', name: 'get_weather', arguments: '{"city":"Paris"}' }] },
  );
  mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It is 21 °C in Paris 🚀.' });
  mock.on(
    { userMessage: 'busy' },
    { error: { message: 'slow', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, status: 429, retryAfter: 2 },
  );
  mock.on({ userMessage: 'key' }, { error: { message: 'bad sk-very-secret-key', type: 'authentication_error' }, status: 401 });
  await mock.start();
});

afterAll(async () => {
  await mock.stop();
  rmSync(home, { recursive: true, force: true });
});

/** The first uses the chat format, the second the responses format. */
const packages: readonly (readonly [string, () => SdkInput])[] = [
  [
    'openai-compatible',
    () => ({ kind: 'ai-sdk', package: '@ai-sdk/openai-compatible', apiKey: 'env:KEY', baseUrl: `${mock.url}/v1`, options: { name: 'x' } }),
  ],
  ['openai', () => ({ kind: 'ai-sdk', package: '@ai-sdk/openai', options: { apiKey: 'env:KEY', baseURL: `${mock.url}/v1` } })],
];

function open(lab: SdkInput, deps: Parameters<typeof createRouter>[1] = {}) {
  const router = createRouter({ providers: { lab }, models: { retries: 1 } }, { home, ...deps });
  onTestFinished(() => router.close());
  return router;
}

test.each(packages)('%s: completes a tool loop', async (_name, config) => {
  const router = open(config());
  const messages: ChatMessage[] = [user('what is the weather?')];
  const sink = new RecordingSink();
  const first = await router.stream('lab/gpt-4o', createRequest(messages), sink, { signal: never });
  expect(first).toMatchObject({ text: 'Let me check.', calls: [{ tool: 'get_weather' }], finishReason: 'tool_calls' });
  expect(JSON.parse(first.calls[0]?.args ?? '')).toEqual({ city: 'Paris' });
  expect(sink.texts.join('')).toBe('Let me check.');
  messages.push(
    { role: 'assistant', text: first.text, calls: first.calls },
    { role: 'tool', id: first.calls[0]?.id ?? '', tool: 'get_weather', text: '21', isError: false },
  );
  const second = await router.stream('lab/gpt-4o', createRequest(messages), sink, { signal: never });
  expect(second).toMatchObject({ text: 'It is 21 °C in Paris 🚀.', calls: [], finishReason: 'stop' });
});

test.each(packages)('%s: waits for a rate limit, and reports a refused key without its value', async (_name, config) => {
  const waits: number[] = [];
  const router = open(config(), { sleep: (ms) => (waits.push(ms), Promise.resolve(true)) });
  const ask = (text: string) => failureOf(router.stream('lab/gpt-4o', createRequest([user(text)]), new RecordingSink(), { signal: never }));
  const [busy, refused] = [await ask('busy'), await ask('key')];
  expect([busy.code, refused.code, waits]).toEqual(['model_rate_limited', 'model_auth', [2000]]);
  expect(JSON.stringify([refused.message, refused.data])).not.toContain('sk-very-secret-key');
});

test.each(packages)('%s: stops when aborted', async (_name, config) => {
  const router = open(config());
  const controller = new AbortController();
  const sink = { text: () => controller.abort() };
  const error = await failureOf(router.stream('lab/gpt-4o', createRequest([user('weather')]), sink, { signal: controller.signal }));
  expect(error.code).toBe('cancelled');
});

const chat = (baseUrl: string, more: Partial<SdkInput> = {}): SdkInput => ({
  kind: 'ai-sdk',
  package: '@ai-sdk/openai-compatible',
  options: { name: 'x' },
  baseUrl,
  ...more,
});

test('a strict server accepts a conversation with every kind of message', async () => {
  await using server = await ScriptedModel.start([{ answer: { text: 'fine', usage: { input: 50, output: 3 } } }]);
  const router = open(chat(`${server.origin}/v1`, { images: true }));
  const messages: ChatMessage[] = [
    { role: 'user', text: 'look', images: [{ name: 'dot.png', mediaType: 'image/png', base64: 'iVBORw0KGgo=' }] },
    { role: 'assistant', text: '', calls: [{ id: 'one call!', tool: 'get weather', args: 'not json' }] },
    note('go on'),
  ];
  const reply = await router.stream('lab/m', createRequest(messages, { tail: 'be quick', maxOutputTokens: 9 }), new RecordingSink(), {
    signal: never,
  });
  expect([reply.text, server.violations]).toEqual(['fine', []]);
  expect(JSON.stringify(server.requests[0]?.body)).toContain('data:image/png;base64,iVBORw0KGgo=');
});

test.each([
  ['cut', 'model_cut_off'],
  ['stall', 'model_timeout'],
] as const)('an answer that ends in %s is an error', async (kind, code) => {
  await using server = await ScriptedModel.start([
    { answer: { text: 'a longer answer', pieceChars: 3, trouble: { kind, afterFrames: 3 } } },
  ]);
  const router = createRouter(
    { providers: { lab: chat(`${server.origin}/v1`) }, models: { retries: 0, timeouts: { idleMs: 1000, firstTokenMs: 5000 } } },
    { home },
  );
  onTestFinished(() => router.close());
  const error = await failureOf(router.stream('lab/m', createRequest([user('x')]), new RecordingSink(), { signal: never }));
  expect(error.code).toBe(code);
});

test('an absent server, a missing package and a package without a provider fail', async () => {
  const failed = async (config: SdkInput) => {
    const router = createRouter({ providers: { lab: config }, models: { retries: 0 } }, { home });
    onTestFinished(() => router.close());
    return failureOf(router.stream('lab/m', createRequest([user('x')]), new RecordingSink(), { signal: never }));
  };
  expect(await failed(chat('http://127.0.0.1:9/v1'))).toMatchObject({ code: 'model_unavailable', data: { provider: 'lab' } });
  const missing = await failed({ kind: 'ai-sdk', package: '@ai-sdk/amazon-bedrock' });
  expect([missing.code, missing.data['hint']]).toEqual([
    'invalid_config',
    `Install it: npm install --prefix "${join(home, 'packages')}" @ai-sdk/amazon-bedrock`,
  ]);
  expect(await failed({ kind: 'ai-sdk', package: 'not-a-provider' })).toMatchObject({ code: 'invalid_config' });
  expect(await failed({ kind: 'ai-sdk', package: '@ai-sdk/openai' })).toMatchObject({ code: 'model_auth' });
});
