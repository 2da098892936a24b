// Prices of well-known vendors are found for a model and its snapshots, never for a model with a similar name.

import { expect, test } from 'vitest';
import type { ProviderConfig } from '../../contracts/config.ts';
import { createRouter } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { providerPresets } from './provider-presets.ts';

const openai: ProviderConfig = { kind: 'openai', apiKey: 'env:KEY' };
const at = (baseUrl: string, more: object = {}): ProviderConfig => ({ kind: 'openai-compatible', baseUrl, apiKey: 'env:KEY', ...more });
const million = { inputTokens: 100_000, outputTokens: 10_000, cachedInputTokens: 50_000 };

test.each<[ProviderConfig, string, number | null, number | null]>([
  [openai, 'gpt-4o-mini', 0.15, 0.6],
  [openai, 'gpt-5.2-2025-12-11', 1.75, 14],
  [openai, 'gpt-5-chat-latest', 1.25, 10],
  [openai, 'gpt-4o-2024-05-13', 5, 15],
  [{ kind: 'anthropic', apiKey: 'env:KEY' }, 'claude-sonnet-4-5-20250929', 3, 15],
  [at('https://generativelanguage.googleapis.com/v1beta/openai'), 'gemini-2.5-flash', 0.3, 2.5],
  [at('https://api.groq.com/openai/v1'), 'openai/gpt-oss-20b', 0.075, 0.3],
  [at('https://api.deepseek.com/v1'), 'deepseek-chat', 0.14, 0.28],
  [at('https://api.x.ai/v1'), 'grok-4.3', 1.25, 2.5],
  [at('https://api.mistral.ai/v1'), 'mistral-small-2603', 0.15, 0.6],
  // Similar names of other models.
  [openai, 'gpt-6.2-sol', 2, 10],
  [openai, 'gpt-5.9', null, null],
  [openai, 'gpt-5.2-turbo', null, null],
  [openai, 'gpt-4o-mini-2', null, null],
  // The same name costs something else at another address.
  [at('https://gateway.example.org/v1'), 'gpt-4o', null, null],
  [{ ...openai, baseUrl: 'https://gateway.example.org/v1' }, 'gpt-4o', null, null],
  // Local models are free, and prices of possible gateways are unknown.
  [at('http://127.0.0.1:1234/v1'), 'any', 0, 0],
  [at('http://127.0.0.1:5010/v1', { apiKey: undefined }), 'any', 0, 0],
  [at('http://127.0.0.1:4000/v1'), 'gpt-4o', null, null],
  [{ kind: 'ollama' }, 'gpt-oss:120b-cloud', null, null],
  [{ ...openai, prices: { 'gpt-4o': { inputUsdPerMillion: 9, outputUsdPerMillion: 10 } } }, 'gpt-4o', 9, 10],
])('%j: %s', (provider, modelId, input, output) => {
  expect(createRouter({ providers: { p: provider } }).info(`p/${modelId}`)).toMatchObject({
    inputUsdPerMillion: input,
    outputUsdPerMillion: output,
  });
});

test('cached input and requests beyond a long-context limit have separate rates', () => {
  const router = createRouter({ providers: { p: openai, a: { kind: 'anthropic', apiKey: 'env:KEY' } } });
  expect(router.cost('p/gpt-5.4', million)).toBeCloseTo(0.05 * 2.5 + 0.05 * 0.25 + 0.01 * 15);
  expect(router.cost('p/gpt-5.4', { ...million, inputTokens: 300_000 })).toBeCloseTo(0.25 * 5 + 0.05 * 0.5 + 0.01 * 22.5);
  expect(router.cost('a/claude-haiku-5-5', { ...million, inputTokens: 200_000 })).toBeCloseTo(0.15 * 0.5 + 0.05 * 0.05 + 0.01 * 2.5);
});

test('every provider with a key names the variable that usually contains it', () => {
  const variables = providerPresets.filter(({ keyName }) => keyName !== null).map(({ keyVariable }) => keyVariable);
  expect(variables).not.toContain(null);
  expect(new Set(variables).size).toBe(variables.length);
});
