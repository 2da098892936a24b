// How well the person's documents are found: more than 200 questions over a fixed copy of this project's own documents, by words, by vectors
// and by both. The vectors are those of a stand-in that hashes words: its figures show that the way works, not what a language model adds.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { KnowledgeRows } from '../../core/store/knowledge/knowledge.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { VectorStore } from '../../core/store/vector/vector.ts';
import { hashedVector, startEmbeddingServer, type EmbeddingServer } from '../doubles/hashed-embedder.ts';

const corpus = join(import.meta.dirname, '../corpus/retrieval');
const DEPTH = 5;
const documents = new Map(
  ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'].map((name) => [name, readFileSync(join(corpus, name), 'utf8')]),
);
const questions = readFileSync(join(corpus, 'questions.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [question: string, phrase: string])
  // A phrase of one word says nothing.
  .filter(([, phrase]) => phrase.length > 5);

const ended: (() => unknown)[] = [];
const homes: string[] = [];
let words: TrayClaw;
let both: TrayClaw;
let server: EmbeddingServer;

async function open(embedded: boolean): Promise<TrayClaw> {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-retrieval-'));
  homes.push(home);
  const embeddings = { kind: 'openai-compatible', baseUrl: `${server.origin}/v1`, model: 'hashed' } as const;
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
  server = await startEmbeddingServer();
  ended.push(() => server.close());
  [words, both] = [await open(false), await open(true)];
  for (let i = 0; i < 2_000; i++) {
    const { embedder } = await both.op('knowledge.list', {});
    if (embedder.waiting === 0 && embedder.dimensions !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the passages were not embedded');
}, 60_000);

afterAll(async () => {
  for (const end of ended.toReversed()) await end();
});

interface Figures {
  readonly recall: number;
  readonly mrr: number;
}

type Ask = (query: string) => Promise<readonly { readonly text: string }[]> | readonly { readonly text: string }[];

async function measure(ask: Ask): Promise<Figures> {
  let found = 0;
  let reciprocal = 0;
  for (const [query, phrase] of questions) {
    const place = (await ask(query)).slice(0, DEPTH).findIndex(({ text }) => text.includes(phrase));
    if (place < 0) continue;
    found += 1;
    reciprocal += 1 / (place + 1);
  }
  return { recall: found / questions.length, mrr: reciprocal / questions.length };
}

const asking =
  (claw: TrayClaw): Ask =>
  async (query) =>
    (await claw.op('knowledge.search', { query, limit: DEPTH })).evidence;

/** The nearest passages alone, out of the same file. */
function askVectors(): Ask {
  const storage = Storage.open({ home: homes[1] ?? '', migrations: [], lock: false });
  ended.push(() => storage.dispose());
  const rows = new KnowledgeRows(storage);
  const vectors = new VectorStore(storage.db);
  const index = vectors.open('knowledge');
  return (query) =>
    rows.at(index.nearest(hashedVector(query), ['all'], DEPTH, (row) => vectors.cached(rows.hashOf(row) ?? '')).map(({ row }) => row));
}

test('there are enough questions, and what each asks for stands in the documents', () => {
  expect(questions.length).toBeGreaterThanOrEqual(200);
  const all = [...documents.values()].join('\n');
  expect(questions.filter(([, phrase]) => !all.includes(phrase))).toEqual([]);
});

test('most is among the first five', { timeout: 60_000 }, async () => {
  const lexical = await measure(asking(words));
  const vector = await measure(askVectors());
  const hybrid = await measure(asking(both));
  const say = (name: string, { recall, mrr }: Figures): string => `${name}: recall@${DEPTH} ${recall.toFixed(3)}, MRR ${mrr.toFixed(3)}`;
  process.stdout.write(
    `${questions.length} questions. ${say('words', lexical)}; ${say('vectors of the hashing stand-in', vector)}; ${say('both', hybrid)}\n`,
  );
  expect(lexical.recall).toBeGreaterThan(0.7);
  expect(hybrid.recall).toBeGreaterThan(0.7);
  expect(hybrid.mrr).toBeGreaterThan(0.45);
});

test('every citation names the lines at which the passage stands', { timeout: 60_000 }, async () => {
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
