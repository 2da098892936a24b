import { expect, test } from 'vitest';
import { createRequest, RecordingSink, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { noUsage, type ModelClient } from '../../contracts/llm.ts';
import { ByFormatClient } from './by-format-client.ts';
import { createClient } from './client-factory.ts';
import { RefusedWordsInMemory } from './wire-words.ts';

const answers = (text: string): ModelClient => ({
  stream: () => Promise.resolve({ text, reasoning: '', calls: [], usage: noUsage, usageReported: true, finishReason: 'stop' }),
});

test.each([
  ['gpt-4.1', 'chat'],
  ['gpt-5.5', 'chat'],
  ['gpt-5-chat-latest', 'chat'],
  ['gpt-5.6-terra', 'responses'],
  ['gpt-6-astra', 'responses'],
  ['gpt-6.2-sol', 'responses'],
  ['gpt-5.5-pro', 'responses'],
  ['gpt-5.3-codex', 'responses'],
])('%s is asked by the API %s', async (modelId, api) => {
  const client = new ByFormatClient({ chat: answers('chat'), responses: answers('responses') });
  const request = { ...createRequest([user('hi')]), modelId };
  expect((await client.stream(request, new RecordingSink(), new AbortController().signal)).text).toBe(api);
});

const vendor = { kind: 'openai', apiKey: 'env:KEY' } as const;

test.each<[ProviderConfig, boolean]>([
  [vendor, true],
  [{ ...vendor, baseUrl: 'https://api.openai.com/v1/' }, true],
  [{ ...vendor, format: 'chat' }, false],
  [{ ...vendor, baseUrl: 'https://gateway.example.com/v1' }, false],
  [{ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' }, false],
])('%j chooses the API by the model: %s', async (config, chooses) => {
  const client = await createClient('lab', config, {
    keyRef: null,
    secrets: { resolve: () => Promise.resolve('') },
    connectTimeoutMs: 1000,
    nowMs: () => 0,
    nextCallId: () => 'call',
    contextTokens: () => 1000,
    refusedWords: new RefusedWordsInMemory(),
    engine: null,
    home: null,
  });
  expect(client instanceof ByFormatClient).toBe(chooses);
  await client.close?.();
});
