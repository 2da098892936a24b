// Provider set-up: the key is sent only when the provider is saved and stored nowhere before, so cancelling leaves nothing behind.

import { expect, test } from 'vitest';
import type { OpName, OpParams, OpResult } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../../lib/client.ts';
import { freeName, ProviderDraft } from './provider-draft.svelte.ts';

const secretKey = 'sk-a-real-key-1';
const preset = { id: 'groq', kind: 'openai-compatible', baseUrl: 'https://api.example.org/v1', keyName: 'groq', keyUrl: null } as const;

class RecordingClient implements OpClient {
  readonly calls: (readonly [OpName, unknown])[] = [];
  op<N extends OpName>(name: N, params: OpParams<N>): Promise<OpResult<N>> {
    this.calls.push([name, params]);
    return Promise.resolve(
      (name === 'provider.try' ? { ok: true, modelId: 'small', models: [{}, {}] } : { warnings: [] }) as unknown as OpResult<N>,
    );
  }
  events(): () => void {
    return () => undefined;
  }
}

function fill(client: OpClient): ProviderDraft {
  const draft = new ProviderDraft(client, preset, []);
  draft.key = secretKey;
  return draft;
}

const provider = { name: 'groq', kind: 'openai-compatible', baseUrl: 'https://api.example.org/v1', key: secretKey };

test('a trial stores nothing, takes the usual model, and saving passes the key on once', async () => {
  const client = new RecordingClient();
  const draft = fill(client);
  expect(draft.isComplete).toBe(true);
  await draft.tryOut();
  expect([draft.modelId, draft.models.length]).toEqual(['small', 2]);
  expect(client.calls).toEqual([['provider.try', { provider }]]);
  await draft.save();
  expect(client.calls.slice(1)).toEqual([['provider.add', { provider, modelId: 'small', isDefault: true }]]);
  expect(draft.key).toBe('');
});

test('a reference is treated as one, and prices belong to the model', async () => {
  const client = new RecordingClient();
  const draft = fill(client);
  Object.assign(draft, { key: 'env:GROQ_KEY', modelId: 'small', inputUsd: 0.5, outputUsd: 2, isDefault: false });
  await draft.save();
  const { key: _, ...place } = provider;
  const prices = { small: { inputUsdPerMillion: 0.5, outputUsdPerMillion: 2 } };
  expect(client.calls).toEqual([
    ['provider.add', { provider: { ...place, apiKey: 'env:GROQ_KEY', prices }, modelId: 'small', isDefault: false }],
  ]);
});

test('missing fields are named', () => {
  const draft = new ProviderDraft(new RecordingClient(), { ...preset, kind: 'anthropic', baseUrl: null }, ['groq']);
  expect([draft.name, draft.isComplete]).toEqual(['groq-2', false]);
  draft.key = secretKey;
  expect(draft.isComplete).toBe(true);
  draft.name = 'not a name';
  expect(draft.isComplete).toBe(false);
  expect(freeName('a', ['a', 'a-2'])).toBe('a-3');
});
