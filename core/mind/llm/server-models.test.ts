// Lists of models as servers return them: parsed in each vendor's form, cached for a while, and readable errors.

import { expect, test } from 'vitest';
import { configSchema, type ProviderConfig } from '../../contracts/config.ts';
import { createRouter, failureOf } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';

const never = new AbortController().signal;
const json = (value: unknown, status = 200) => ({
  status,
  chunks: [JSON.stringify(value)],
  headers: { 'content-type': 'application/json' },
});
const compatible = (url: string): ProviderConfig => ({ kind: 'openai-compatible', baseUrl: `${url}/v1`, apiKey: 'env:KEY' });

test('lists models with window and price, and marks one that is not offered', async () => {
  await using openRouter = await ScriptedServer.start(
    json({
      data: [
        { id: 'a/big', context_length: 200_000, pricing: { prompt: '0.000003', completion: '0.000015' } },
        { id: 'a/auto', context_length: 2_000_000, pricing: { prompt: '-1', completion: '-1' } },
        { id: 'a/whisper-1' },
        { id: 'mistral-ocr', capabilities: { completion_chat: false } },
        { id: 7 },
      ],
    }),
  );
  await using anthropic = await ScriptedServer.start(
    json({ data: [{ type: 'model', id: 'claude-sonnet-5', max_input_tokens: 1_000_000 }], has_more: false }),
  );
  await using ollama = await ScriptedServer.start(json({ models: [{ name: 'qwen3:8b' }, { name: 'nomic-embed-text' }] }));
  await using broken = await ScriptedServer.start({ status: 404, chunks: ['not here'] });
  const router = createRouter({
    providers: {
      router: compatible(openRouter.url),
      cloud: { kind: 'anthropic', apiKey: 'env:KEY', baseUrl: anthropic.url },
      near: { kind: 'ollama', baseUrl: ollama.url },
      odd: compatible(broken.url),
    },
    models: { default: 'router/a/gone' },
  });
  expect(router.list().models.map(({ ref }) => ref)).toEqual(['router/a/gone', 'demo/offline']);
  await router.lookAtServers(never);
  const { models, failed } = router.list();
  expect(
    models.map(({ ref, contextTokens, inputUsdPerMillion, outputUsdPerMillion, missing }) => [
      ref,
      contextTokens,
      inputUsdPerMillion,
      outputUsdPerMillion,
      missing,
    ]),
  ).toEqual([
    ['router/a/gone', 32_768, null, null, true],
    ['router/a/big', 200_000, 3, 15, undefined],
    ['router/a/auto', 2_000_000, null, null, undefined],
    ['cloud/claude-sonnet-5', 1_000_000, null, null, undefined],
    ['near/qwen3:8b', 32_768, 0, 0, undefined],
    ['demo/offline', 32_768, 0, 0, undefined],
  ]);
  expect(failed).toMatchObject([{ provider: 'odd', error: { message: expect.stringContaining('does not list its models') as string } }]);
  expect(anthropic.seen.map(({ path, headers }) => [path, headers['x-api-key'], headers['anthropic-version']])).toEqual([
    ['/v1/models?limit=1000', 'sk-very-secret-key', '2023-06-01'],
  ]);
});

test('a web page in place of the list is called that', async () => {
  await using page = await ScriptedServer.start({
    headers: { 'content-type': 'text/html' },
    chunks: ['<!doctype html><title>Sign in</title>'],
  });
  const router = createRouter({ providers: { lab: compatible(page.url) }, models: { default: 'lab/m' } });
  await router.lookAtServers(never);
  const said = {
    message: expect.stringMatching(/^A web page answers at .* in place of lab\.$/) as string,
    hint: expect.stringContaining('proxy') as string,
  };
  expect(router.list().failed).toMatchObject([{ provider: 'lab', error: said }]);
});

test('a list is cached for minutes, a failure for less, and new settings refresh it', async () => {
  let nowMs = 1_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  await using server = await ScriptedServer.start(json({ data: [{ id: 'm' }] }));
  const router = createRouter({ providers: { lab: compatible(server.url) }, models: { default: 'lab/m' } }, { clock });
  await Promise.all([router.lookAtServers(never), router.lookAtServers(never)]);
  await router.lookAtServers(never);
  expect(server.seen).toHaveLength(1);
  nowMs += 6 * 60_000;
  await router.lookAtServers(never);
  await router.lookAtServers(never, 'lab');
  expect(server.seen).toHaveLength(3);
  const { models } = configSchema.parse({ models: { default: 'lab/m' } });
  router.configure({ models, providers: { lab: { ...compatible(server.url), images: true } as ProviderConfig } });
  expect(router.list().models.map(({ ref }) => ref)).toEqual(['lab/m', 'demo/offline']);
  await router.lookAtServers(never);
  expect(server.seen).toHaveLength(4);
});

test.each([
  ['no answer at all', { after: 'wait' } as const, 'cancelled'],
  ['a page', { chunks: ['<html>'] }, 'model_rejected'],
  ['a refusal', json({ error: { message: 'no', code: 'invalid_api_key' } }, 401), 'model_auth'],
  ['an internal error', json({ error: { message: 'oops' } }, 503), 'model_unavailable'],
  ['half an answer', { chunks: ['{"data":['], after: 'drop' } as const, 'model_unavailable'],
])('a survey that gets %s fails with a readable error', async (_what, script, code) => {
  await using server = await ScriptedServer.start(script);
  const gone = new AbortController();
  const asked = createRouter({}).survey('lab', { provider: compatible(server.url), signal: gone.signal });
  await server.whenSeen(1);
  if (code === 'cancelled') gone.abort();
  expect(await failureOf(asked)).toMatchObject({ code });
});

test('a survey uses the given key, and names the preferred model', async () => {
  await using server = await ScriptedServer.start(json({ data: [{ id: 'gpt-4o' }, { id: 'gpt-5.1-2025-11-13' }, { id: 'gpt-image-1' }] }));
  const provider: ProviderConfig = { kind: 'openai', apiKey: 'keychain:none', baseUrl: server.url };
  const { models, usual } = await createRouter({}).survey('mine', { provider, key: 'sk-given', signal: never });
  expect([models.map(({ ref }) => ref), usual]).toEqual([['mine/gpt-4o', 'mine/gpt-5.1-2025-11-13'], 'gpt-4o']);
  expect(server.seen[0]?.headers.authorization).toBe('Bearer sk-given');
});
