import { expect, test } from 'vitest';
import { bareKey, otherVendorHint } from './key-hint.ts';

test.each([
  ['sk-good', 'sk-good'],
  ['"sk-good"', 'sk-good'],
  ["'sk-good'", 'sk-good'],
  ['Bearer sk-good', 'sk-good'],
  ['OPENAI_API_KEY=sk-good', 'sk-good'],
  ['export GROQ_API_KEY="gsk_good";', 'gsk_good'],
  ['QUJDREVG_KEYS==', 'QUJDREVG_KEYS=='],
  ['two words', 'two words'],
  ['"half', '"half'],
])('the key in %j is %j', (pasted, key) => {
  expect(bareKey(pasted)).toBe(key);
});

test.each([
  ['sk-ant-api03-x', { kind: 'openai' }, 'Anthropic'],
  ['sk-ant-api03-x', { kind: 'anthropic' }, null],
  ['sk-proj-x', { kind: 'anthropic' }, 'OpenAI'],
  ['gsk_x', { kind: 'openai-compatible', baseUrl: 'https://api.groq.com/openai/v1' }, null],
  ['gsk_x', { kind: 'openai-compatible', baseUrl: 'https://api.x.ai/v1' }, 'Groq'],
  ['sk-x', { kind: 'anthropic' }, null],
])('a refused key %j of %j looks like one of %s', (key, provider, vendor) => {
  const hint = otherVendorHint(key, provider);
  if (vendor === null) expect(hint).toBeNull();
  else expect(hint).toContain(`a key of ${vendor}:`);
});
