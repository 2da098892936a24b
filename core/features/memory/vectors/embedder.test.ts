import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hashedVector, startEmbeddingServer, type EmbeddingServer } from '../../../../tests/doubles/hashed-embedder.ts';
import { systemClock } from '../../../base/clock.ts';
import { ManualClock } from '../../../../tests/doubles/manual-clock.ts';
import { AppError } from '../../../contracts/errors.ts';
import { silentLogger } from '../../../base/logger.ts';
import { PanicSwitch } from '../../../guard/panic/panic.ts';
import { Storage } from '../../../store/storage/storage.ts';
import { VectorStore, vectorMigrations } from './vector-store.ts';
import { Embedder, type EmbeddingsConfig } from './embedder.ts';
import { LlamaServer } from './llama-server.ts';
import { referenceTexts } from './relevance.ts';
import { VectorKeeper, type EmbeddedTexts, type WaitingText } from './vector-keeper.ts';
import { needs } from '../../../../tests/needs.ts';

const still = new AbortController().signal;

async function serve(): Promise<EmbeddingServer> {
  const server = await startEmbeddingServer();
  onTestFinished(() => server.close());
  return server;
}

function embedderFor(config: EmbeddingsConfig, more: Partial<ConstructorParameters<typeof Embedder>[0]> = {}): Embedder {
  return new Embedder({
    config,
    fetch: globalThis.fetch,
    resolveSecret: (ref) => Promise.resolve(`value of ${ref}`),
    redact: (text) => text.replaceAll('s3cret', '[redacted:KEY]'),
    panic: new PanicSwitch(),
    estimate: (text) => Math.ceil(text.length / 4),
    spending: { admit: () => undefined, record: () => undefined },
    clock: new ManualClock(),
    serve: () => Promise.reject(new Error('nothing is served')),
    embedHere: () => Promise.reject(new Error('there is no engine')),
    ...more,
  });
}

const openAi = ({ origin }: EmbeddingServer): EmbeddingsConfig => ({ kind: 'openai-compatible', baseUrl: `${origin}/v1`, model: 'm' });

test.each(['openai-compatible', 'ollama'] as const)(
  '%s: returns a vector per text, in order, in batches, without secrets',
  async (kind) => {
    const server = await serve();
    const config =
      kind === 'ollama'
        ? { kind, baseUrl: server.origin, model: 'm' }
        : { kind, baseUrl: `${server.origin}/v1/`, model: 'm', apiKey: 'env:KEY' };
    const texts = Array.from({ length: 70 }, (_, index) => `text ${index} s3cret`);
    const vectors = await embedderFor(config).embed(texts, still);
    expect(vectors.map((vector) => [...vector])).toEqual(texts.map((text) => [...hashedVector(text.replace('s3cret', '[redacted:KEY]'))]));
    expect(server.asked.map((batch) => batch.length)).toEqual([64, 6]);
    expect(server.headers[0]).toBe(kind === 'ollama' ? undefined : 'Bearer value of env:KEY');
  },
);

test('a question is sent only once, and nothing is sent under the panic stop', async () => {
  const server = await serve();
  const embedder = embedderFor(openAi(server));
  const first = await embedder.embedQuery('where is it', still);
  expect(await embedder.embedQuery('where is it', still)).toBe(first);
  expect(server.asked).toHaveLength(1);
  const panic = new PanicSwitch();
  panic.engage(0, 'a test');
  await expect(embedderFor(openAi(server), { panic }).embed(['x'], still)).rejects.toMatchObject({ code: 'panic_engaged' });
  expect(server.asked).toHaveLength(1);
});

test('the panic stop aborts a request under way', async () => {
  const panic = new PanicSwitch();
  const asked = Promise.withResolvers<void>();
  const fetch: typeof globalThis.fetch = (_url, { signal } = {}) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      asked.resolve();
    });
  const embedding = embedderFor({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' }, { panic, fetch }).embed(
    ['x'],
    still,
  );
  await asked.promise;
  panic.engage(0, 'a test');
  await expect(embedding).rejects.toMatchObject({ code: 'cancelled' });
});

test('the token count of the server is recorded, or an estimate if there is none', async () => {
  const server = await serve();
  const recorded: unknown[] = [];
  const spending = { admit: () => undefined, record: (use: unknown) => void recorded.push(use) };
  const embedder = embedderFor(openAi(server), { spending });
  const use = { purpose: 'texts', count: 2, tookMs: 0 };
  await embedder.embed(['a text', 'another'], still);
  server.toldTokens = 7;
  await embedder.embed(['a text', 'another'], still);
  await embedder.embedQuery('where is it', still);
  expect(recorded).toEqual([
    { ...use, tokens: 4, tokensReported: false },
    { ...use, tokens: 7, tokensReported: true },
    { ...use, purpose: 'questions', count: 1, tokens: 7, tokensReported: true },
  ]);
  const full = {
    ...spending,
    admit: (): void => {
      throw new AppError('over_budget', 'There is no room.');
    },
  };
  await expect(embedderFor(openAi(server), { spending: full }).embed(['x'], still)).rejects.toMatchObject({ code: 'over_budget' });
  expect(server.asked).toHaveLength(3);
});

test.each([
  [{ status: 401, body: '{}' }, 'model_auth'],
  [{ status: 404, body: '{"error":"no such model"}' }, 'model_unknown'],
  [{ status: 429, body: '' }, 'model_rate_limited'],
  [{ status: 500, body: 'x' }, 'model_unavailable'],
  [{ status: 400, body: 'too long' }, 'model_rejected'],
  [{ status: 200, body: 'no json' }, 'model_bad_reply'],
  [{ status: 200, body: '{"data":[]}' }, 'model_bad_reply'],
  [{ status: 200, body: '{"data":[{"index":5,"embedding":[1,2,3,4,5,6,7,8]}]}' }, 'model_bad_reply'],
  [{ status: 200, body: '{"data":[{"index":0,"embedding":[1]}]}' }, 'model_bad_reply'],
  [{ status: 307, body: '' }, 'model_unavailable'],
])('an answer of %j has its own error', async (instead, code) => {
  const server = await serve();
  server.instead = instead;
  await expect(embedderFor(openAi(server)).embed(['x'], still)).rejects.toMatchObject({ code });
});

test('reports an unreachable server and an aborted wait', async () => {
  const gone = await startEmbeddingServer();
  await gone.close();
  await expect(embedderFor(openAi(gone)).embed(['x'], still)).rejects.toMatchObject({ code: 'model_unavailable' });
  await expect(embedderFor(openAi(await serve())).embed(['x'], AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
});

/** Numbered texts, as a store has them. */
class Texts implements EmbeddedTexts {
  readonly done = new Map<number, Int8Array>();
  readonly texts: string[];

  constructor(texts: readonly string[]) {
    this.texts = [...texts];
  }

  waiting(limit: number) {
    return this.texts.flatMap((text, row) => (this.done.has(row) ? [] : [{ row, text, textHash: text, scope: 'all' }])).slice(0, limit);
  }

  countWaiting(): number {
    return this.texts.length - this.done.size;
  }

  whereIs({ row, text }: WaitingText): 'in-its-row' | 'elsewhere' | 'gone' {
    if (this.texts[row] === text) return 'in-its-row';
    return this.texts.includes(text) ? 'elsewhere' : 'gone';
  }

  put({ row }: WaitingText, vector: Int8Array): void {
    this.done.set(row, vector);
  }

  reset(): void {
    this.done.clear();
  }
}

function openKeeper(texts: Texts, embedder: Pick<Embedder, 'model' | 'embed'>, vectors: VectorStore) {
  const waiting: (() => void)[] = [];
  const keeper = new VectorKeeper({
    embedder,
    place: vectors,
    tables: [texts],
    transact: (work) => work(),
    later: (_delayMs, action) => {
      waiting.push(action);
      return () => undefined;
    },
    logger: silentLogger,
  });
  onTestFinished(() => keeper.dispose());
  const settle = async (until: () => boolean): Promise<void> => {
    keeper.poke();
    for (let i = 0; i < 500 && !until(); i++) {
      waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
      if (waiting.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(until()).toBe(true);
  };
  return { keeper, settle };
}

function openVectors(): VectorStore {
  return new VectorStore(openStorage().db);
}

function openStorage(): Storage {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-vectors-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const storage = Storage.open({ home, migrations: vectorMigrations });
  onTestFinished(() => storage.dispose());
  return storage;
}

test('every text is embedded and sent once; another model replaces all vectors', async () => {
  const server = await serve();
  const vectors = openVectors();
  const texts = new Texts(Array.from({ length: 150 }, (_, index) => `text ${index}`));
  const first = openKeeper(texts, embedderFor(openAi(server)), vectors);
  await first.settle(() => texts.countWaiting() === 0);
  expect(first.keeper.state).toEqual({ model: 'openai-compatible:m', dimensions: 384, waiting: 0, problem: null });
  // The floor of the model is measured once, as soon as its first vectors exist.
  expect(vectors.pinned?.floor).not.toBeNull();
  expect(server.asked[1]).toEqual(referenceTexts);
  expect(server.asked.flat()).toHaveLength(182);
  // Removed and inserted again, as when a document is reread: their vectors come from the cache.
  texts.reset();
  await first.settle(() => texts.countWaiting() === 0);
  expect(server.asked.flat()).toHaveLength(182);
  server.dimensions = 96;
  const second = openKeeper(
    texts,
    embedderFor({ ...openAi(server), kind: 'openai-compatible', model: 'other' } as EmbeddingsConfig),
    vectors,
  );
  texts.texts.push('one more');
  await second.settle(() => texts.countWaiting() === 0);
  expect(vectors.pinned).toMatchObject({ model: 'openai-compatible:other', dimensions: 96 });
  expect([...texts.done.values()].every((vector) => vector.length === 96)).toBe(true);
  expect(texts.done.size).toBe(151);
});

test('a text that several rows contain is sent once', async () => {
  const server = await serve();
  const texts = new Texts(['the same', 'another', 'the same']);
  await openKeeper(texts, embedderFor(openAi(server)), openVectors()).settle(() => texts.countWaiting() === 0);
  expect(server.asked).toEqual([['the same', 'another']]);
  expect(texts.done.get(2)).toEqual(texts.done.get(0));
});

test('a row whose text changed meanwhile gets the vector of its new text', async () => {
  const server = await serve();
  const vectors = openVectors();
  const texts = new Texts(['the old text', 'a moving text']);
  const embedder = embedderFor(openAi(server));
  const changing = {
    model: embedder.model,
    embed: async (asked: readonly string[], signal: AbortSignal) => {
      const made = await embedder.embed(asked, signal);
      if (asked.includes('the old text')) texts.texts.splice(0, 2, 'the new text', 'an added text', 'a moving text');
      return made;
    },
  };
  await openKeeper(texts, changing, vectors).settle(() => texts.countWaiting() === 0);
  expect(server.asked).toEqual([['the old text', 'a moving text'], referenceTexts, ['the new text', 'an added text']]);
  expect(vectors.cached('the old text')).toBeNull();
  expect([...texts.done]).toEqual(texts.texts.map((text, row) => [row, vectors.cached(text)]));
});

test('a rolled-back change of the model keeps the previous model', () => {
  const storage = openStorage();
  const vectors = new VectorStore(storage.db);
  storage.transact(() => vectors.pin('first', 16));
  const failing = (): void =>
    storage.transact(() => {
      vectors.pin('second', 32);
      throw new Error('the rest failed');
    });
  expect(failing).toThrow('the rest failed');
  expect(vectors.pinned).toEqual({ model: 'first', dimensions: 16, floor: null, floorBy: null });
});

test('a failure is shown, and waiting texts are retried', async () => {
  const server = await serve();
  const vectors = openVectors();
  const texts = new Texts(['a long text']);
  server.instead = { status: 401, body: '' };
  const { keeper, settle } = openKeeper(texts, embedderFor(openAi(server)), vectors);
  await settle(() => keeper.state.problem !== null);
  expect(keeper.state).toMatchObject({ waiting: 1, problem: 'The embedding model openai-compatible:m refused the key.' });
  server.instead = null;
  await settle(() => texts.countWaiting() === 0);
  expect(keeper.state.problem).toBeNull();
});

const program = `#!/usr/bin/env node
import { createServer } from 'node:http';
const at = process.argv.indexOf('--port');
if (!process.argv.includes('--embedding') || process.argv[process.argv.indexOf('--host') + 1] !== '127.0.0.1') process.exit(3);
let asked = 0;
createServer((request, response) => {
  if (request.url === '/health') {
    response.statusCode = ++asked < 3 ? 503 : 200;
    response.end();
    return;
  }
  if (request.headers.authorization !== 'Bearer ' + process.env.LLAMA_API_KEY || process.env.OPENAI_API_KEY) {
    response.statusCode = 401;
    response.end();
    return;
  }
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => response.end(JSON.stringify({ data: JSON.parse(body).input.map((text, index) => ({ index, embedding: Array(16).fill(text.length) })) })));
}).listen(Number(process.argv[at + 1]), '127.0.0.1');
`;

test('a GGUF file is served by a child process, used with its key, and ended', needs('a Unix system'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-gguf-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'llama-server.mjs');
  writeFileSync(file, program);
  chmodSync(file, 0o755);
  const environment = { PATH: process.env['PATH'], OPENAI_API_KEY: 'not for it' };
  const server = new LlamaServer({
    program: file,
    file: 'model.gguf',
    clock: systemClock,
    environment,
    marker: { TRAYCLAW_INSTANCE: 'abc' },
  });
  onTestFinished(() => server.dispose());
  const embedder = embedderFor({ kind: 'gguf', program: file, file: 'model.gguf' }, { serve: (signal) => server.address(signal) });
  expect((await embedder.embed(['four'], still)).map((vector) => vector[0])).toEqual([4]);
  const { baseUrl } = await server.address(still);
  await server.dispose();
  await expect(globalThis.fetch(`${baseUrl}/embeddings`)).rejects.toThrow('fetch failed');
});

test('a missing program says what to check', async () => {
  const server = new LlamaServer({
    program: '/nonexistent/llama-server',
    file: 'model.gguf',
    clock: systemClock,
    environment: {},
    marker: {},
  });
  await expect(server.address(still)).rejects.toMatchObject({
    code: 'model_unavailable',
    hint: expect.stringContaining('embeddings.program'),
  });
});
