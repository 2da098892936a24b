import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { askWindow } from './server-windows.ts';
import { createRouter } from '../../../tests/rigs/core/mind/llm/conversation.ts';

const never = new AbortController().signal;

/** A server that answers these paths and records the requests. */
async function serve(answers: Readonly<Record<string, unknown>>) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${Buffer.concat(parts).toString()} ${request.headers.authorization ?? ''}`.trim());
      const answer = answers[request.url ?? ''];
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

test.each([
  ['llama-server', { '/v1/models': { data: [{ id: 'm' }] }, '/props': { default_generation_settings: { n_ctx: 8192 } } }, 8192],
  [
    'LM Studio',
    {
      '/v1/models': { data: [{ id: 'm' }] },
      '/api/v0/models': { data: [{ id: 'm', max_context_length: 131072, loaded_context_length: 4096, state: 'loaded' }] },
    },
    4096,
  ],
  [
    'vLLM',
    {
      '/v1/models': {
        data: [
          { id: 'other', max_model_len: 1024 },
          { id: 'm', max_model_len: 16384 },
        ],
      },
    },
    16384,
  ],
  ['OpenRouter', { '/v1/models': { data: [{ id: 'm', context_length: 200000 }] } }, 200000],
  ['a server that does not say', { '/v1/models': { data: [{ id: 'm' }] } }, null],
  ['a server that says nonsense', { '/v1/models': { data: [{ id: 'm', max_model_len: 'many' }] }, '/props': [] }, null],
])('finds the window of %s', async (_what, answers, expected) => {
  const { url } = await serve(answers);
  const question = { kind: 'openai-compatible', baseUrl: `${url}/v1`, modelId: 'm', headers: {} } as const;
  expect(await askWindow(question, never)).toBe(expected);
});

test.each([
  [{ model_info: { 'general.architecture': 'gemma', 'gemma.context_length': 8192 } }, 8192],
  [{ model_info: { 'llama.context_length': 131072 }, parameters: 'stop "x"\nnum_ctx                        16384' }, 16384],
  [{ details: {} }, null],
])('reads the window from an Ollama answer of %j: %s', async (shown, expected) => {
  const { url, seen } = await serve({ '/api/show': shown });
  expect(await askWindow({ kind: 'ollama', baseUrl: url, modelId: 'm', headers: {} }, never)).toBe(expected);
  expect(seen).toEqual(['POST /api/show {"model":"m"}']);
});

test('a window is asked for once, with the key, and that of Ollama is capped', async () => {
  const { url, seen } = await serve({
    '/v1/models': { data: [{ id: 'm', max_model_len: 5000 }] },
    '/api/show': { model_info: { 'x.context_length': 999_999 } },
  });
  const router = createRouter({
    providers: { lab: { kind: 'openai-compatible', baseUrl: `${url}/v1`, apiKey: 'env:KEY' }, box: { kind: 'ollama', baseUrl: url } },
  });
  for (const ref of ['lab/m', 'box/m']) {
    await router.askWindow(ref, never);
    expect(router.askWindow(ref, never)).toBeNull();
  }
  expect([router.info('lab/m').contextTokens, router.info('box/m').contextTokens]).toEqual([5000, 32_768]);
  expect(seen).toContain('GET /v1/models  Bearer sk-very-secret-key');
  expect(seen).toHaveLength(4);
  await router.close();
});

test('no request is made for a window known from config or the name of the model', () => {
  const router = createRouter({
    providers: {
      lab: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', contextTokens: 9000 },
      far: { kind: 'openai-compatible', baseUrl: 'https://models.test/v1' },
      own: { kind: 'openai', apiKey: 'env:KEY' },
    },
  });
  expect(['lab/m', 'far/gpt-4o', 'own/new', 'demo/offline', 'nobody/m'].map((ref) => router.askWindow(ref, never))).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
});
