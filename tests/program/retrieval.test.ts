// How well the person's documents are found: more than 200 questions about a fixed copy of this project's own documents, and 40 asked in
// other words than the documents use; by full-text search, by vectors, and by both. Every run asks a quarter of the questions with hashed
// vectors, which are weak and must not make full-text results worse. The long run asks all of them with a real sentence encoder.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { KnowledgeRows, VectorStore } from '../../core/features/memory/memory.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { hashed, startEmbeddingServer, type EmbeddingServer, type VectorsOf } from '../doubles/hashed-embedder.ts';
import { loadSentenceModel } from '../doubles/sentence-embedder.ts';
import { isSoak, soak } from '../soak.ts';

const corpus = join(import.meta.dirname, '../corpus/retrieval');
const DEPTH = 5;
const documents = new Map(
  ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'].map((name) => [name, readFileSync(join(corpus, name), 'utf8')]),
);
type Question = readonly [question: string, phrase: string];

const questionsIn = (file: string): Question[] =>
  readFileSync(join(corpus, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split('\t') as [string, string])
    // A phrase of one word proves nothing.
    .filter(([, phrase]) => phrase.length > 5);

const every = questionsIn('questions.tsv');
const questions = every.filter((_, index) => index % soak(4, 1) === 0);
const otherWords = questionsIn('other-words.tsv');

const ended: (() => unknown)[] = [];
const homes: string[] = [];
let words: TrayClaw;
let both: TrayClaw;
let server: EmbeddingServer;
let vectorsOf: VectorsOf;

async function open(embedded: boolean): Promise<TrayClaw> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-retrieval-'));
  homes.push(home);
  const embeddings = { kind: 'openai-compatible', baseUrl: `${server.origin}/v1`, model: 'universal-sentence-encoder-lite' } as const;
  const claw = await createTrayClaw({
    home,
    config: {
      models: { default: 'demo/offline' },
      knowledge: { sources: { docs: { kind: 'directory', path: corpus, endings: ['md'], watch: false } } },
      ...(embedded ? { embeddings } : {}),
    },
  });
  ended.push(async () => {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  });
  await claw.op('knowledge.reindex', {});
  return claw;
}

beforeAll(async () => {
  vectorsOf = isSoak ? await loadSentenceModel() : hashed;
  server = await startEmbeddingServer(vectorsOf);
  ended.push(() => server.close());
  [words, both] = [await open(false), await open(true)];
  for (let i = 0; i < 12_000; i++) {
    const { embedder } = await both.op('knowledge.list', {});
    if (embedder.waiting === 0 && embedder.dimensions !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the passages were not embedded');
}, 180_000);

afterAll(async () => {
  for (const end of ended.toReversed()) await end();
});

interface Figures {
  readonly recall: number;
  readonly mrr: number;
}

type Ask = (query: string) => Promise<readonly { readonly text: string }[]> | readonly { readonly text: string }[];

async function measure(ask: Ask, asked: readonly Question[]): Promise<Figures> {
  let found = 0;
  let reciprocal = 0;
  for (const [query, phrase] of asked) {
    const place = (await ask(query)).slice(0, DEPTH).findIndex(({ text }) => text.includes(phrase));
    if (place < 0) continue;
    found += 1;
    reciprocal += 1 / (place + 1);
  }
  return { recall: found / asked.length, mrr: reciprocal / asked.length };
}

const asking =
  (claw: TrayClaw): Ask =>
  async (query) =>
    (await claw.op('knowledge.search', { query, limit: DEPTH })).evidence;

/** The nearest passages by vector alone, from the same database. */
function askVectors(): Ask {
  const storage = Storage.open({ home: homes[1] ?? '', migrations: [], lock: false });
  ended.push(() => storage.dispose());
  const rows = new KnowledgeRows(storage);
  const vectors = new VectorStore(storage.db);
  const index = vectors.open('knowledge');
  return async (query) => {
    const [vector = []] = await vectorsOf([query], 0);
    const near = index.nearest(Float32Array.from(vector), ['all'], DEPTH, (row) => vectors.cached(rows.hashOf(row) ?? ''));
    return rows.at(near.map(({ row }) => row));
  };
}

test('there are enough questions, and the documents contain every answer', () => {
  expect(every.length).toBeGreaterThanOrEqual(200);
  const all = [...documents.values()].join('\n');
  expect([...every, ...otherWords].filter(([, phrase]) => !all.includes(phrase))).toEqual([]);
});

test('most answers are among the first five results', { timeout: 240_000 }, async () => {
  const nearest = askVectors();
  const say = (name: string, { recall, mrr }: Figures): string => `${name}: recall@${DEPTH} ${recall.toFixed(3)}, MRR ${mrr.toFixed(3)}`;
  const figures = async (asked: readonly Question[]) => ({
    lexical: await measure(asking(words), asked),
    vector: await measure(nearest, asked),
    hybrid: await measure(asking(both), asked),
  });
  const plain = await figures(questions);
  const other = await figures(otherWords);
  for (const [asked, { lexical, vector, hybrid }] of [
    [questions, plain],
    [otherWords, other],
  ] as const) {
    process.stdout.write(`${asked.length} questions. ${say('words', lexical)}; ${say('vectors', vector)}; ${say('both', hybrid)}\n`);
  }
  expect(plain.lexical.recall).toBeGreaterThan(0.9);
  // Both kinds of vectors are weak on these texts; combined with full-text search they must not remove results.
  expect(plain.hybrid.recall).toBeGreaterThan(plain.lexical.recall - 0.02);
  expect(plain.hybrid.mrr).toBeGreaterThan(plain.lexical.mrr - 0.05);
  expect(other.hybrid.recall).toBeGreaterThanOrEqual(Math.max(other.lexical.recall, other.vector.recall));
});

test('every citation names the lines of its passage', { timeout: 240_000 }, async () => {
  let cited = 0;
  for (const [query] of questions) {
    const { evidence } = await both.op('knowledge.search', { query, limit: DEPTH });
    for (const { citation, path, startLine, endLine, text } of evidence) {
      const lines = (documents.get(path) ?? '').split('\n');
      expect(lines.slice((startLine ?? 0) - 1, endLine ?? 0).join('\n')).toBe(text);
      expect(citation).toBe(`docs/${path}:${startLine}${startLine === endLine ? '' : `-${endLine}`}`);
      cited += 1;
    }
  }
  process.stdout.write(`${cited} citations, all correct\n`);
  expect(cited).toBeGreaterThan(questions.length);
});
