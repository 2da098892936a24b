import { expect, test } from 'vitest';
import { createRequest, createRouter, RecordingSink, readFixture, user } from '../../../tests/rigs/core/mind/llm/conversation.ts';
import { ScriptedServer } from '../../../tests/rigs/core/mind/llm/scripted-server.ts';
import { localServersToProbe, wellKnownServers, type LocalServer, type LocalServerKind } from './local-servers.ts';

const never = new AbortController().signal;
const json = (value: unknown) => ({ chunks: [JSON.stringify(value)], headers: { 'content-type': 'application/json' } });
const found = (provider: string, kind: LocalServerKind, baseUrl: string): LocalServer => ({ provider, kind, baseUrl, isConfigured: false });

test('finds chat models of every kind of server, and ignores other answers', async () => {
  await using ollama = await ScriptedServer.start(json({ models: [{ name: 'nomic-embed-text:latest' }, { name: 'qwen3:8b', size: 1 }] }));
  await using studio = await ScriptedServer.start(
    json({
      models: [
        { type: 'embedding', key: 'e' },
        { type: 'llm', key: 'gemma-3', loaded_instances: [{ id: 'g', config: { context_length: 4096 } }] },
      ],
    }),
  );
  await using llama = await ScriptedServer.start(
    json({ object: 'list', data: [{ id: 'tiny.gguf' }], default_generation_settings: { n_ctx: 8192 } }),
  );
  await using website = await ScriptedServer.start({ chunks: ['<html>hello</html>'] });
  await using silent = await ScriptedServer.start({ after: 'wait' });
  const router = createRouter(
    {},
    {
      probeTimeoutMs: 1_000,
      localServers: [
        found('llama-server', 'llama-server', website.url),
        found('slow', 'ollama', silent.url),
        found('ollama', 'ollama', ollama.url),
        found('lmstudio', 'lm-studio', studio.url),
        found('llama-server', 'llama-server', llama.url),
      ],
    },
  );
  expect(router.defaultRef()).toBe('demo/offline');
  const models = await router.discover(never);
  expect(models).toEqual([
    {
      ref: 'ollama/qwen3:8b',
      provider: 'ollama',
      modelId: 'qwen3:8b',
      kind: 'ollama',
      baseUrl: ollama.url,
      source: `Ollama at ${ollama.url}`,
      contextTokens: null,
    },
    {
      ref: 'lmstudio/gemma-3',
      provider: 'lmstudio',
      modelId: 'gemma-3',
      kind: 'openai-compatible',
      baseUrl: `${studio.url}/v1`,
      source: `LM Studio at ${studio.url}`,
      contextTokens: 4096,
    },
    {
      ref: 'llama-server/tiny.gguf',
      provider: 'llama-server',
      modelId: 'tiny.gguf',
      kind: 'openai-compatible',
      baseUrl: `${llama.url}/v1`,
      source: `llama-server at ${llama.url}`,
      contextTokens: 8192,
    },
  ]);
  expect(router.defaultRef()).toBe('ollama/qwen3:8b');
  expect(router.info('ollama/qwen3:8b')).toMatchObject({ contextTokens: 32_768, inputUsdPerMillion: 0 });
  expect(router.info('ollama/gpt-oss:120b-cloud').inputUsdPerMillion).toBeNull();
  expect(router.info('lmstudio/gemma-3').contextTokens).toBe(4096);
  expect(router.list().models.map((model) => model.ref)).toEqual([...models.map((model) => model.ref), 'demo/offline']);
});

test('a server that was found answers calls', async () => {
  await using llama = await ScriptedServer.start(json({ data: [{ id: 'tiny.gguf' }] }));
  const router = createRouter({}, { probeTimeoutMs: 5_000, localServers: [found('llama-server', 'llama-server', llama.url)] });
  await router.discover(never);

  llama.script({ chunks: [readFixture('openai-text.txt')] });
  const reply = await router.stream('llama-server/tiny.gguf', createRequest([user('hi')]), new RecordingSink(), { signal: never });
  await router.close();
  expect(reply.text).toBe('Grüße aus 東京 🚀!');
});

test('a configured local provider names its models, first in the list, asked once', async () => {
  await using mine = await ScriptedServer.start(json({ data: [{ id: 'my-model' }] }));
  const router = createRouter(
    { providers: { box: { kind: 'openai-compatible', baseUrl: `${mine.url}/v1` } } },
    { probeTimeoutMs: 5_000, localServers: [found('llama-server', 'llama-server', mine.url)] },
  );
  expect((await router.discover(never)).map((model) => model.ref)).toEqual(['box/my-model']);
  expect(mine.seen.map((seen) => seen.path)).toEqual(['/v1/models']);
  expect(router.defaultRef()).toBe('box/my-model');
});

test('makes no request beyond this machine', () => {
  const asked = localServersToProbe(
    {
      cloud: { kind: 'openai-compatible', baseUrl: 'https://api.example.org/v1' },
      far: { kind: 'ollama', baseUrl: 'http://192.0.2.7:11434' },
      ollama: { kind: 'ollama' },
    },
    wellKnownServers,
  );
  expect(asked.map((server) => server.baseUrl)).toEqual([
    'http://127.0.0.1:11434',
    'http://127.0.0.1:1234',
    'http://127.0.0.1:9931',
    'http://127.0.0.1:8080',
  ]);
});

test('returns an empty list if nothing is found or the signal has aborted', async () => {
  const dead = await ScriptedServer.start();
  await dead.close();
  const router = createRouter({}, { probeTimeoutMs: 5_000, localServers: [found('ollama', 'ollama', dead.url)] });
  expect(await router.discover(never)).toEqual([]);
  expect(await router.discover(AbortSignal.abort())).toEqual([]);
});
