// Assembles vector search: the embedder, its cost, the background work that embeds each text, and the search for nearby rows. Without an
// embedder there is only full-text search.

import { resolve } from 'node:path';
import type { Lifetimes } from '../../../base/disposable.ts';
import type { Logger } from '../../../base/logger.ts';
import { systemSessionId } from '../../../contracts/events.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import { estimateTokens, type EngineAccess } from '../../../mind/llm/llm.ts';
import type { SearchedTexts } from '../recall/searched-texts.ts';
import type { Spine } from '../../feature.ts';
import type { KnowledgeRows } from '../documents/knowledge-rows.ts';
import { memoryHash, type MemoryRows } from '../facts/memory-rows.ts';
import { Embedder, embeddingModelName, embeddingPrice } from './embedder.ts';
import { EmbeddingLedger } from './embedding-ledger.ts';
import { LlamaServer } from './llama-server.ts';
import { relevantOf } from './relevance.ts';
import { VectorKeeper, type EmbeddedTexts } from './vector-keeper.ts';
import type { VectorIndex, VectorStore } from './vector-store.ts';

export type EmbeddingSpine = Pick<
  Spine,
  | 'config'
  | 'clock'
  | 'environment'
  | 'fetch'
  | 'home'
  | 'later'
  | 'logger'
  | 'log'
  | 'panic'
  | 'secrets'
  | 'budget'
  | 'redactPrompt'
  | 'instanceMarker'
>;

/** The stores of texts and their vectors. */
export interface MemoryStores {
  readonly memories: MemoryRows;
  readonly knowledge: KnowledgeRows;
  readonly vectors: VectorStore;
}

/** The context window of an embedding model in the engine. Longer texts are cut. */
const EMBEDDED_TOKENS = 8_192;

/** Vector search, or why there is none: `problem` is null if no embedder is configured. */
export function createEmbedding(spine: EmbeddingSpine, store: MemoryStores, lifetimes: Lifetimes, engine: Pick<EngineAccess, 'open'>) {
  const { config, clock, environment, fetch, home, later, logger, log, panic, secrets, budget, redactPrompt } = spine;
  const { embeddings } = config;
  // Without an embedder, vectors of an earlier one are unused. The indexes are still opened, so that they are deleted with their texts.
  if (embeddings === undefined && store.vectors.pinned === null) return { working: null, problem: null };
  const indexes = openIndexes(logger, store.vectors);
  if (indexes !== null) {
    store.memories.texts.useVectors(indexes.memory);
    store.knowledge.texts.useVectors(indexes.knowledge);
  }
  if (embeddings === undefined) return { working: null, problem: null };
  if (indexes === null) return { working: null, problem: 'The library for search by meaning could not be loaded on this machine.' };
  const server =
    embeddings.kind === 'gguf'
      ? new LlamaServer({
          program: embeddings.program,
          file: resolve(home, embeddings.file),
          clock,
          environment,
          marker: spine.instanceMarker,
        })
      : null;
  if (server !== null) lifetimes.defer(() => server.dispose());
  const ledger = new EmbeddingLedger({
    model: embeddingModelName(embeddings),
    usdPerMillionTokens: embeddingPrice(embeddings),
    budget,
    append: (body) => void log.append(systemSessionId, [{ type: 'embedding.used', body }]),
    clock,
  });
  lifetimes.defer(() => ledger.flush());
  const embedder = new Embedder({
    config: embeddings,
    estimate: estimateTokens,
    spending: ledger,
    clock,
    fetch,
    resolveSecret: (ref) => secrets.resolve(ref),
    redact: redactPrompt,
    panic,
    embedHere: async (file, texts, signal) => (await engine.open()).embed({ file, contextTokens: EMBEDDED_TOKENS }, texts, signal),
    serve: (signal) => (server === null ? Promise.reject(new Error('nothing is served')) : server.address(signal)),
  });
  const keeper = lifetimes.add(
    new VectorKeeper({
      embedder,
      place: store.vectors,
      tables: [memoryTexts(store, indexes.memory), passageTexts(store, indexes.knowledge)],
      transact: (work) => log.transact(work),
      later,
      logger,
    }),
  );
  return { working: { embedder, keeper, indexes, ledger }, problem: null };
}
export type Embedding = ReturnType<typeof createEmbedding>;

function openIndexes(logger: Logger, vectors: VectorStore): { memory: VectorIndex; knowledge: VectorIndex } | null {
  try {
    return { memory: vectors.open('memory'), knowledge: vectors.open('knowledge') };
  } catch (cause) {
    logger.log('error', 'search by meaning is off', { cause: String(cause) });
    return null;
  }
}

function memoryTexts({ memories }: MemoryStores, index: VectorIndex): EmbeddedTexts {
  return {
    ...keptIn(memories.texts, index),
    waiting: (limit) => memories.waiting(limit).map((one) => ({ ...one, textHash: memoryHash(one.text) })),
    whereIs: ({ row, textHash }) => (memories.at([row]).some(({ text }) => memoryHash(text) === textHash) ? 'in-its-row' : 'gone'),
  };
}

/** The scope of all passages: a caller that may search one passage may search all. */
export const EVERYBODY = 'all';

function passageTexts({ knowledge }: MemoryStores, index: VectorIndex): EmbeddedTexts {
  return {
    ...keptIn(knowledge.texts, index),
    waiting: (limit) => knowledge.waiting(limit).map((one) => ({ ...one, scope: EVERYBODY })),
    whereIs: ({ row, textHash }) => {
      if (knowledge.hashOf(row) === textHash) return 'in-its-row';
      return knowledge.holds(textHash) ? 'elsewhere' : 'gone';
    },
  };
}

function keptIn(texts: SearchedTexts, index: VectorIndex): Pick<EmbeddedTexts, 'countWaiting' | 'put' | 'reset'> {
  return {
    countWaiting: () => texts.countWaiting(),
    put: ({ row, scope }, vector) => {
      index.put(row, scope, vector);
      texts.setEmbedded(row);
    },
    reset: () => texts.resetVectors(),
  };
}

/** Finds the rows near a question. A failure or a timeout returns no rows, and only the full-text search counts. */
export function createNearest(logger: Logger, { vectors }: MemoryStores, { working }: Embedding) {
  return async (
    which: 'memory' | 'knowledge',
    query: string,
    {
      scopes,
      limit,
      hashOf,
      signal,
    }: { scopes: readonly string[]; limit: number; hashOf: (row: number) => string | null; signal: AbortSignal },
  ) => {
    // Without vector search, a turn pays for no look at its rows.
    if (working === null) return [];
    const { pinned } = vectors;
    if (pinned?.model !== working.embedder.model || working.ledger.problem !== null) return [];
    try {
      const asked = await working.embedder.embedQuery(query, signal);
      if (asked.length !== pinned.dimensions) return [];
      const found = working.indexes[which].nearest(asked, scopes, limit, (row) => {
        const hash = hashOf(row);
        return hash === null ? null : vectors.cached(hash);
      });
      return relevantOf(found, pinned.floor);
    } catch (cause) {
      if (!signal.aborted) logger.log('warn', 'a question could not be embedded', { cause: String(cause) });
      return [];
    }
  };
}

export type Nearest = ReturnType<typeof createNearest>;

export function embedderState({ working, problem }: Embedding): OpResult<'knowledge.list'>['embedder'] {
  if (working === null) return { model: null, dimensions: null, waiting: 0, problem };
  const { state } = working.keeper;
  return { ...state, problem: state.problem ?? working.ledger.problem };
}
