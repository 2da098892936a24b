// Tests every adapter against an independent mock of the vendors' APIs.

import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProviderConfig } from '../../contracts/config.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { createRequest, createRouter, failureOf, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';

const never = new AbortController().signal;
const mock = new LLMock({ port: 0, chunkSize: 8, host: '127.0.0.1' });

beforeAll(async () => {
  mock.on(
    { userMessage: 'weather', hasToolResult: false },
    { content: 'Let me check.', toolCalls: [{ id: 'call_w1', name: 'get_weather', arguments: '{"city":"Paris"}' }] },
  );
  mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It is 21 °C in Paris 🚀.' });
  mock.on(
    { userMessage: 'busy' },
    { error: { message: 'slow', type: 'rate_limit_error', code: 'rate_limit_exceeded' }, status: 429, retryAfter: 2 },
  );
  mock.on({ userMessage: 'key' }, { error: { message: 'bad key', type: 'authentication_error', code: 'invalid_api_key' }, status: 401 });
  await mock.start();
});

afterAll(() => mock.stop());

const providers: readonly (readonly [string, () => ProviderConfig])[] = [
  ['openai', () => ({ kind: 'openai', apiKey: 'env:KEY', baseUrl: `${mock.url}/v1` })],
  ['openai-compatible', () => ({ kind: 'openai-compatible', baseUrl: `${mock.url}/v1` })],
  ['anthropic', () => ({ kind: 'anthropic', apiKey: 'env:KEY', baseUrl: mock.url })],
  ['ollama', () => ({ kind: 'ollama', baseUrl: mock.url })],
];

test.each(providers)('%s: completes a tool loop', async (_name, config) => {
  const router = createRouter({ providers: { lab: config() } });
  const messages: ChatMessage[] = [user('what is the weather?')];
  const sink = new RecordingSink();
  const first = await router.stream('lab/gpt-4o', createRequest(messages), sink, { signal: never });
  expect(first).toMatchObject({ text: 'Let me check.', calls: [{ tool: 'get_weather' }], finishReason: 'tool_calls' });
  expect(JSON.parse(first.calls[0]?.args ?? '')).toEqual({ city: 'Paris' });
  expect(first.calls[0]?.id).toMatch(/\w+/);
  expect(sink.texts.join('')).toBe('Let me check.');
  expect(sink.texts.length).toBeGreaterThan(1);

  messages.push(
    { role: 'assistant', text: first.text, calls: first.calls },
    { role: 'tool', id: first.calls[0]?.id ?? '', tool: 'get_weather', text: '21', isError: false },
  );
  const second = await router.stream('lab/gpt-4o', createRequest(messages), sink, { signal: never });
  await router.close();
  expect(second).toMatchObject({ text: 'It is 21 °C in Paris 🚀.', calls: [], finishReason: 'stop' });
  expect(mock.getRequests().at(-1)?.body).toMatchObject({
    messages: expect.arrayContaining([expect.objectContaining({ role: 'tool' })]) as unknown,
  });
});

test.each(providers)('%s: handles a rate limit, a refused key and an unknown question', async (_name, config) => {
  const waits: number[] = [];
  const router = createRouter(
    { providers: { lab: config() }, models: { retries: 1 } },
    { sleep: (ms) => (waits.push(ms), Promise.resolve(true)) },
  );
  const ask = (text: string) => failureOf(router.stream('lab/gpt-4o', createRequest([user(text)]), new RecordingSink(), { signal: never }));
  const busy = await ask('busy');
  const refused = await ask('key');
  await ask('zzz');
  await router.close();
  expect([busy.code, refused.code]).toEqual(['model_rate_limited', 'model_auth']);
  expect(waits).toEqual([2000]);
});

test.each(providers)('%s: stops when aborted', async (_name, config) => {
  const router = createRouter({ providers: { lab: config() } });
  const controller = new AbortController();
  const sink = { text: () => controller.abort() };
  const error = await failureOf(router.stream('lab/gpt-4o', createRequest([user('weather')]), sink, { signal: controller.signal }));
  await router.close();
  expect(error.code).toBe('cancelled');
});
