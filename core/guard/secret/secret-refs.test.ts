import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema, secretRefSchema } from '../../contracts/config.ts';
import { secretRefsOf } from './secret-refs.ts';

const ref = (name: string): string => `keychain:${name}`;

const full = configSchema.parse({
  providers: {
    a: { kind: 'openai', apiKey: ref('openai'), keys: [ref('openai-2')] },
    b: { kind: 'anthropic', apiKey: ref('anthropic'), keys: [ref('anthropic-2')] },
    c: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', apiKey: ref('compatible'), keys: [ref('compatible-2')] },
    e: { kind: 'cortensor', apiKey: ref('cortensor'), payment: ref('payment') },
    d: { kind: 'demo' },
  },
  channels: { telegram: { token: ref('telegram') } },
  signals: { webhooks: { lab: { secret: ref('hook') } } },
  web: { search: { provider: 'brave', apiKey: ref('brave') } },
  embeddings: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', model: 'm', apiKey: ref('embeddings') },
});

test('every place that takes a secret is found', () => {
  const providers = ['openai', 'openai-2', 'anthropic', 'anthropic-2', 'compatible', 'compatible-2', 'cortensor', 'payment'];
  expect(secretRefsOf(full).sort()).toEqual([...providers, 'telegram', 'hook', 'brave', 'embeddings'].map(ref).sort());
});

test('as many places are found as the form of the settings has', () => {
  const pattern = (z.toJSONSchema(secretRefSchema) as { pattern: string }).pattern;
  const places = JSON.stringify(z.toJSONSchema(configSchema, { io: 'input' })).split(JSON.stringify(pattern)).length - 1;
  // Two more than above: search is one of two services, and one value has one form only.
  expect(places).toBe(secretRefsOf(full).length + 1);
});

test('text that only looks like a reference is none', () => {
  const config = configSchema.parse({
    providers: { a: { kind: 'demo' } },
    web: { search: { provider: 'searxng', baseUrl: 'http://127.0.0.1:1' } },
  });
  expect(secretRefsOf(config)).toEqual([]);
});
