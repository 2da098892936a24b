// Which model answers if none is chosen: never the demo while a provider is set up, and never without saying what is missing.

import { expect, test } from 'vitest';
import { createRouter } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

const never = new AbortController().signal;
const json = (value: unknown, status = 200) => ({
  status,
  chunks: [JSON.stringify(value)],
  headers: { 'content-type': 'application/json' },
});
const nowhere = 'http://127.0.0.1:9';

test('a provider without models.default is used with a model its server offers', async () => {
  await using server = await ScriptedServer.start(json({ data: [{ id: 'text-embedding-3' }, { id: 'a-chat-model' }, { id: 'b' }] }));
  const router = createRouter({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${server.url}/v1`, apiKey: 'env:KEY' } } });
  expect([router.defaultRef(), server.seen.length]).toEqual([null, 0]);
  router.lookAround(never);
  await router.ready();
  expect(router.defaultChoice()).toEqual({ ref: 'lab/a-chat-model', problem: null });
  expect(server.seen.map(({ path, headers }) => [path, headers.authorization])).toEqual([['/v1/models', 'Bearer sk-very-secret-key']]);
});

test('no request is made if a default is named or a vendor has a usual model', async () => {
  await using server = await ScriptedServer.start(json({ data: [] }));
  const lab = { kind: 'openai-compatible', baseUrl: `${server.url}/v1` } as const;
  for (const router of [
    createRouter({ providers: { lab }, models: { default: 'lab/x' } }),
    createRouter({ providers: { cloud: { kind: 'openai', apiKey: 'env:KEY' }, lab } }),
  ]) {
    router.lookAround(never);
    expect(router.ready()).toBeNull();
  }
  expect(server.seen).toEqual([]);
});

test('an absent configured server is named, and the demo does not replace it', async () => {
  const router = createRouter({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${nowhere}/v1` } } });
  router.lookAround(never);
  await router.ready();
  const { ref, problem } = router.defaultChoice();
  expect(ref).toBeNull();
  expect(problem?.message).toBe('No model can be used. Nothing answers at http://127.0.0.1:9 (lab).');
  expect(problem?.hint).toContain('trayclaw config set models.default lab/MODEL');
  expect(router.list()).toMatchObject({ defaultModel: null, problem, failed: [{ provider: 'lab', error: { code: 'model_unavailable' } }] });
});

test('a wrong key is reported as such, not as a server without models', async () => {
  await using server = await ScriptedServer.start(json({ error: { message: 'bad key sk-very-secret-key', code: 'invalid_api_key' } }, 401));
  const router = createRouter({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${server.url}/v1`, apiKey: 'env:KEY' } } });
  router.lookAround(never);
  await router.ready();
  const { problem } = router.defaultChoice();
  expect(problem?.message).toContain('lab did not accept the key.');
  expect(JSON.stringify(problem)).not.toContain('sk-very-secret-key');
});

test('a local server that answered before and is absent now is named', async () => {
  const router = createRouter({}, { formerModel: () => 'ollama/qwen3:4b' });
  router.lookAround(never);
  await router.ready();
  expect(router.defaultChoice()).toMatchObject({
    ref: null,
    problem: { message: 'The model server ollama that answered before (ollama/qwen3:4b) is not running.' },
  });
  const demo = createRouter({}, { formerModel: () => 'demo/offline' });
  demo.lookAround(never);
  await demo.ready();
  expect(demo.defaultRef()).toBe('demo/offline');
});

test('a server that starts later is found when a message waits for a model', async () => {
  let nowMs = 1_000_000;
  await using server = await ScriptedServer.start(json({}, 503), json({ data: [{ id: 'm' }] }));
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const router = createRouter({ providers: { lab: { kind: 'openai-compatible', baseUrl: `${server.url}/v1` } } }, { clock });
  router.lookAround(never);
  await router.ready();
  expect([router.defaultRef(), router.ready()]).toEqual([null, null]);
  nowMs += 3_000;
  await router.ready();
  expect(router.defaultRef()).toBe('lab/m');
});

test('the demo says what is missing, and names a found key without its value', () => {
  const plain = createRouter({}).defaultChoice();
  expect(plain.problem).toEqual({
    message: 'This is the offline demo, not a language model: no provider is set up and no model server runs on this computer.',
    hint: 'Set one up: trayclaw setup',
  });
  const environment = { GROQ_API_KEY: 'gsk-a-real-secret-1', OPENAI_API_KEY: ' ', XAI_BASE_URL: 'x' };
  const router = createRouter({}, { environment });
  expect(router.defaultChoice().problem?.hint).toBe(
    'Found a key for Groq in GROQ_API_KEY. Use it: trayclaw setup --provider groq --key-env GROQ_API_KEY --yes',
  );
  expect(router.list().offers).toEqual([
    { preset: 'groq', title: 'Groq', kind: 'openai-compatible', baseUrl: 'https://api.groq.com/openai/v1', variable: 'GROQ_API_KEY' },
  ]);
  expect(JSON.stringify(router.list())).not.toContain('gsk-a-real');
  expect(createRouter({ models: { default: 'demo/offline' } }, { environment }).defaultChoice().problem).toBeNull();
});

test('a key is offered for its own address, and no longer once it is in use', () => {
  const environment = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: 'http://127.0.0.1:4000/v1' };
  expect(createRouter({}, { environment }).list().offers).toMatchObject([{ preset: 'openai', baseUrl: 'http://127.0.0.1:4000/v1' }]);
  const mine = { kind: 'openai', apiKey: 'env:OPENAI_API_KEY' } as const;
  expect(createRouter({ providers: { mine } }, { environment }).list().offers).toEqual([]);
});
