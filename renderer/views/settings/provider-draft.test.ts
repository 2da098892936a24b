// Setting up a provider: the key goes to the keychain and nowhere else, and nothing stays behind when one gives up.

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
    return Promise.resolve((name === 'secret.list' ? { names: ['groq'] } : {}) as OpResult<N>);
  }
  events(): () => void {
    return () => undefined;
  }
}

function fill(client: OpClient): ProviderDraft {
  const draft = new ProviderDraft(client, preset, []);
  draft.key = secretKey;
  draft.modelId = 'small';
  return draft;
}

test('the key is put away once, under a name of its own, and only its name goes on', async () => {
  const client = new RecordingClient();
  const draft = fill(client);
  expect(draft.isComplete).toBe(true);
  await draft.tryOut();
  await draft.save();
  const provider = { kind: 'openai-compatible', baseUrl: 'https://api.example.org/v1', apiKey: 'keychain:groq-2' };
  expect(client.calls).toEqual([
    ['secret.list', {}],
    ['secret.set', { name: 'groq-2', value: secretKey }],
    ['model.test', { model: 'groq/small', provider }],
    ['config.set', { key: 'providers.groq', value: provider }],
    ['config.set', { key: 'models.default', value: 'groq/small' }],
  ]);
  expect(draft.key).toBe('');
  await draft.giveUp();
  expect(client.calls).toHaveLength(5);
});

test('giving up takes the key out again', async () => {
  const client = new RecordingClient();
  const draft = fill(client);
  await draft.tryOut();
  await draft.giveUp();
  expect(client.calls.at(-1)).toEqual(['secret.delete', { name: 'groq-2' }]);
});

test('a reference is taken as one, and prices go with the model', async () => {
  const client = new RecordingClient();
  const draft = fill(client);
  Object.assign(draft, { key: 'env:GROQ_KEY', inputUsd: 0.5, outputUsd: 2, isDefault: false });
  await draft.save();
  const value = {
    kind: 'openai-compatible',
    baseUrl: 'https://api.example.org/v1',
    apiKey: 'env:GROQ_KEY',
    prices: { small: { inputUsdPerMillion: 0.5, outputUsdPerMillion: 2 } },
  };
  expect(client.calls).toEqual([['config.set', { key: 'providers.groq', value }]]);
});

test('what is missing is missed', () => {
  const draft = new ProviderDraft(new RecordingClient(), { ...preset, kind: 'anthropic', baseUrl: null }, ['groq']);
  expect([draft.name, draft.isComplete]).toEqual(['groq-2', false]);
  draft.modelId = 'm';
  expect(draft.isComplete).toBe(false);
  draft.key = secretKey;
  expect(draft.isComplete).toBe(true);
  draft.name = 'not a name';
  expect(draft.isComplete).toBe(false);
  expect(freeName('a', ['a', 'a-2'])).toBe('a-3');
});
