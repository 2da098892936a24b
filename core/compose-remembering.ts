// The part of the composition that remembers and reads: memory, the person's documents, and the vectors of both. Read it after compose-guard.ts.

import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { systemLater } from './base/later.ts';
import { mainAgentId } from './contracts/agents.ts';
import type { Config } from './contracts/config.ts';
import { systemSessionId } from './contracts/events.ts';
import { sharedScope } from './contracts/memory.ts';
import type { OpResult } from './contracts/ops.ts';
import type { TaintSource } from './contracts/tools.ts';
import { isInside } from './base/inside-folder.ts';
import { memoryHash } from './store/memory/memory.ts';
import type { VectorIndex, VectorStore } from './store/vector/vector.ts';
import {
  Embedder,
  EmbeddingLedger,
  embeddingModelName,
  embeddingPrice,
  LlamaServer,
  relevantOf,
  VectorKeeper,
  type EmbeddedTexts,
} from './mind/embed/embed.ts';
import { DocumentThread, Knowledge, KnowledgePackSource, placeOf, sourcesOf, type SourceFolders } from './mind/knowledge/knowledge.ts';
import {
  formExtractor,
  formResolver,
  JoinedRecall,
  MemoryMirror,
  MemoryBook,
  MemoryCollector,
  MemoryPackSource,
  MemoryRecall,
  type MemoryStore,
} from './mind/memory/memory.ts';
import { estimateTokens } from './mind/llm/llm.ts';
import { createKnowledgeTool, createMemoryTools, isOwnData, readablePage, type MemoryPort, type ToolHost } from './hands/tools/tools.ts';
import { instanceMarkerOf, realOf, type Base, type Store } from './compose-base.ts';
import type { Guard } from './compose-guard.ts';

/** Null without an embedder: then words alone are searched. */
function composeEmbedding(base: Base, store: Store, { facts, panic, secrets, budget }: Guard) {
  const { config, clock, environment, home, lifetimes, logger, safetyOf } = base;
  const { embeddings } = config;
  // Vectors of an earlier time leave with their texts although nobody asks for them.
  if (embeddings === undefined && store.vectors.pinned === null) return null;
  const indexes = openIndexes(base, store.vectors);
  if (indexes !== null) {
    store.memories.useVectors(indexes.memory);
    store.knowledge.useVectors(indexes.knowledge);
  }
  if (embeddings === undefined) return null;
  if (indexes === null) return { problem: 'The library for search by meaning could not be loaded on this machine.' };
  const { fetch } = globalThis;
  const server =
    embeddings.kind === 'gguf'
      ? new LlamaServer({
          program: embeddings.program,
          file: resolve(home, embeddings.file),
          clock,
          environment,
          marker: instanceMarkerOf(facts.home),
        })
      : null;
  if (server !== null) lifetimes.defer(() => server.dispose());
  const ledger = new EmbeddingLedger({
    model: embeddingModelName(embeddings),
    usdPerMillionTokens: embeddingPrice(embeddings),
    budget,
    append: (body) => void store.log.append(systemSessionId, [{ type: 'embedding.used', body }]),
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
    redact: (text) => safetyOf('prompt').redact(text).text,
    isStopped: () => panic.engaged,
    serve: (signal) => (server === null ? Promise.reject(new Error('nothing is served')) : server.address(signal)),
  });
  const keeper = lifetimes.add(
    new VectorKeeper({
      embedder,
      place: store.vectors,
      tables: [memoryTexts(store, indexes.memory), passageTexts(store, indexes.knowledge)],
      transact: (work) => store.log.transact(work),
      later: systemLater,
      logger,
    }),
  );
  return { embedder, keeper, indexes, ledger };
}
type Embedding = ReturnType<typeof composeEmbedding>;

function openIndexes({ logger }: Base, vectors: VectorStore): { memory: VectorIndex; knowledge: VectorIndex } | null {
  try {
    return { memory: vectors.open('memory'), knowledge: vectors.open('knowledge') };
  } catch (cause) {
    logger.log('error', 'search by meaning is off', { cause: String(cause) });
    return null;
  }
}

function memoryTexts({ memories }: Store, index: VectorIndex): EmbeddedTexts {
  return {
    waiting: (limit) => memories.waiting(limit).map((one) => ({ ...one, textHash: memoryHash(one.text) })),
    countWaiting: () => memories.countWaiting(),
    whereIs: ({ row, textHash }) => (memories.at([row]).some(({ text }) => memoryHash(text) === textHash) ? 'in-its-row' : 'gone'),
    put: ({ row, scope }, vector) => {
      index.put(row, scope, vector);
      memories.setEmbedded(row);
    },
    reset: () => memories.resetVectors(),
  };
}

/** Passages have no scopes: whoever may search them may search all. */
const EVERYBODY = 'all';

function passageTexts({ knowledge }: Store, index: VectorIndex): EmbeddedTexts {
  return {
    waiting: (limit) => knowledge.waiting(limit).map((one) => ({ ...one, scope: EVERYBODY })),
    countWaiting: () => knowledge.countWaiting(),
    whereIs: ({ row, textHash }) => {
      if (knowledge.hashOf(row) === textHash) return 'in-its-row';
      return knowledge.holds(textHash) ? 'elsewhere' : 'gone';
    },
    put: ({ row, scope }, vector) => {
      index.put(row, scope, vector);
      knowledge.setEmbedded(row);
    },
    reset: () => knowledge.resetVectors(),
  };
}

/** Rows near a question. What fails, or takes too long, finds nothing: then words alone are searched. */
function nearest({ logger }: Base, { vectors }: Store, embedding: Embedding) {
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
    const { pinned } = vectors;
    if (embedding === null || 'problem' in embedding || pinned?.model !== embedding.embedder.model) return [];
    if (embedding.ledger.problem !== null) return [];
    try {
      const asked = await embedding.embedder.embedQuery(query, signal);
      if (asked.length !== pinned.dimensions) return [];
      const found = embedding.indexes[which].nearest(asked, scopes, limit, (row) => {
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

export function composeRemembering(base: Base, store: Store, guard: Guard) {
  const { config, clock, options } = base;
  const embedding = composeEmbedding(base, store, guard);
  const near = nearest(base, store, embedding);
  const memory = composeMemory(base, store, near);
  const knowledge = composeKnowledge(base, store, guard, { near, embedding });
  const { log } = store;
  const book = memory.book;
  const collector = new MemoryCollector({
    book,
    extractor: options.memoryExtractor ?? formExtractor,
    reads: log.reads,
    cursor: store.memories,
    transact: (work) => log.transact(work),
  });
  const mirror = composeMirror(base, store);
  const collects = config.memory.enabled && config.memory.fromTurns;
  const port = memoryPort(store, book);
  const folders = sourceFolders(guard);
  const search = searchOffer(knowledge);
  return {
    /** What the operations use. */
    ops: {
      memory: book,
      knowledge,
      sourcePlace: (path: string) => placeOf(path, folders),
      embedder: () => embedderState(embedding),
    },
    sources: [
      new MemoryPackSource({
        store: memory.store,
        source: memory.recall,
        clock,
        snippetsMax: config.memory.enabled ? config.memory.snippetsMax : 0,
      }),
      new KnowledgePackSource({
        knowledge,
        enabled: config.knowledge.inContext,
        evidenceMax: config.knowledge.evidenceMax,
        estimate: estimateTokens,
      }),
    ],
    tools: config.memory.enabled ? createMemoryTools(port) : [],
    meetTools: search.meet,
    takeSources: (sources: Config['knowledge']['sources']) => {
      knowledge.take(sourcesOf(sources, folders));
      search.look();
    },
    /** For a quiet moment: looks through what was said, and wakes what gives texts their vectors. */
    catchUp: (): boolean => {
      const hasMore = collects && collector.catchUp();
      mirror.poke();
      if (embedding !== null && !('problem' in embedding)) {
        embedding.ledger.flush();
        embedding.keeper.poke();
      }
      return hasMore;
    },
    daily: () => void book.dropStaleCandidates(),
    begin: () => {
      knowledge.start();
      if (embedding !== null && 'keeper' in embedding) embedding.keeper.poke();
    },
  };
}

function composeMirror({ lifetimes, logger, options }: Base, { log, memories }: Store): MemoryMirror {
  return lifetimes.add(
    new MemoryMirror({
      sources: options.memorySources ?? [],
      reads: log.reads,
      find: (memoryId) => memories.find(memoryId),
      cursors: {
        get: (source) => memories.cursorOf(`source ${source}`),
        set: (source, seq) => memories.setCursor(`source ${source}`, seq),
      },
      later: systemLater,
      logger,
    }),
  );
}

/** The model is offered the search for as long as there is something to search. */
function searchOffer(knowledge: Knowledge) {
  const tool = createKnowledgeTool({ search: (query, about, signal) => knowledge.search({ query, ...about, signal }) });
  let host: Pick<ToolHost, 'register'> | null = null;
  let withdraw: (() => void) | null = null;
  const look = (): void => {
    if (knowledge.hasSources) withdraw ??= host?.register(tool) ?? null;
    else {
      withdraw?.();
      withdraw = null;
    }
  };
  const meet = (tools: Pick<ToolHost, 'register'>): void => {
    host = tools;
    look();
  };
  return { look, meet };
}

function embedderState(embedding: Embedding): OpResult<'knowledge.list'>['embedder'] {
  const none = { model: null, dimensions: null, waiting: 0 };
  if (embedding === null) return { ...none, problem: null };
  if ('problem' in embedding) return { ...none, problem: embedding.problem };
  const { state } = embedding.keeper;
  return { ...state, problem: state.problem ?? embedding.ledger.problem };
}

function composeMemory({ clock, ids, config, options }: Base, { log, memories }: Store, near: ReturnType<typeof nearest>) {
  const hashOf = (row: number): string | null => {
    const [memory] = memories.at([row]);
    return memory === undefined ? null : memoryHash(memory.text);
  };
  const store: MemoryStore = {
    append: (drafts) => void log.append(systemSessionId, drafts),
    transact: (work) => log.transact(work),
    find: (memoryId) => memories.find(memoryId),
    at: (rows) => memories.at(rows),
    findSame: (text, scope) => memories.findSame(text, scope),
    list: (filter, limit, offset) => memories.list(filter, limit, offset),
    pinned: (scopes, limit) => memories.pinned(scopes, limit),
    counts: () => memories.counts(),
    seenIn: (memoryId) => memories.seenIn(memoryId),
    contradictionsOf: (memoryId) => memories.contradictionsOf(memoryId),
    findWords: (query, limit) => memories.findWords(query, limit),
    coverage: (query, row) => memories.coverage(query, row),
    findMeaning: (query, scopes, limit, signal) => near('memory', query, { scopes, limit, hashOf, signal }),
  };
  const own = new MemoryRecall({ store, clock });
  const { memorySources = [] } = options;
  const recall = memorySources.length === 0 ? own : new JoinedRecall({ own, sources: memorySources, nowMs: () => clock.nowMs() });
  const resolver = options.memoryResolver ?? formResolver;
  const book = new MemoryBook({ store, source: recall, resolver, clock, ids, candidatesMax: config.memory.candidatesMax });
  return { store, recall, book };
}

interface KnowledgeParts {
  readonly near: ReturnType<typeof nearest>;
  readonly embedding: Embedding;
}

function composeKnowledge(base: Base, store: Store, guard: Guard, { near, embedding }: KnowledgeParts): Knowledge {
  const { clock, config, lifetimes, logger, options } = base;
  const { facts } = guard;
  const { knowledge: rows } = store;
  const reader = new DocumentThread();
  // Ended in reverse: first what hands out jobs, then who does them.
  lifetimes.add(reader);
  return lifetimes.add(
    new Knowledge({
      store: {
        seen: (source) => rows.seen(source),
        replace: (about, passages, atMs) => rows.replace(about, passages, atMs),
        touch: (file) => rows.touch(file),
        remove: (source, path) => rows.remove(source, path),
        sources: () => rows.sources(),
        documents: (source, limit) => rows.documents(source, limit),
        counts: (source) => rows.counts(source),
        at: (found) => rows.at(found),
        findWords: (query, limit) => rows.findWords(query, limit),
        coverage: (query, row) => rows.coverage(query, row),
        findMeaning: (query, limit, signal) =>
          near('knowledge', query, { scopes: [EVERYBODY], limit, hashOf: (row) => rows.hashOf(row), signal }),
      },
      reader,
      readPage: readablePage,
      sources: sourcesOf(config.knowledge.sources, sourceFolders(guard)),
      resolvers: options.knowledgeResolvers ?? [],
      untrustedOf: (file) => untrustedOf(file, store, guard),
      skipped: [facts.home],
      clock,
      logger,
      later: systemLater,
      onIndexed: () => {
        if (embedding !== null && 'keeper' in embedding) embedding.keeper.poke();
      },
    }),
  );
}

/** As when a tool reads the file: outside of the opened folders anybody may have written it, and inside, who wrote it is on record. */
function untrustedOf(file: string, { marks }: Store, { facts }: Guard): readonly TaintSource[] {
  const opened = [facts.workspace, ...facts.extraFolders.map(realOf)].some((folder) => isInside(file, folder));
  return opened && marks.writerOf(file) === null ? [] : [{ kind: 'file', where: file }];
}

function sourceFolders({ facts }: Guard): SourceFolders {
  const opened = [facts.workspace, ...facts.extraFolders.map(realOf)];
  return { workspace: facts.workspace, userHome: homedir(), opened, isOwn: (real) => isOwnData(real, facts) };
}

function memoryPort({ log, marks }: Store, book: MemoryBook): MemoryPort {
  const agentOf = (sessionId: string): string => log.index.session(sessionId)?.agentId ?? mainAgentId;
  return {
    remember: ({ text, kind, own, importance }, { sessionId, turnId, idempotencyKey }) => {
      const agentId = agentOf(sessionId);
      const untrusted = marks.session(sessionId)?.sources ?? [];
      const origin = { by: 'agent', actor: `agent ${agentId}`, sessionId, turnId, untrusted } as const;
      const scope = own ? `agent:${agentId}` : sharedScope;
      const { memory, isNew } = book.propose({ text, kind, importance, scope, memoryId: `mem_${idempotencyKey}` }, origin);
      return { memoryId: memory.memoryId, isKept: memory.state === 'kept', isNew, contradicts: book.keptAgainst(memory.memoryId) };
    },
    recall: async (query, limit, { sessionId, turnId, signal }) => {
      const hits = await book.recall({ query, agentId: agentOf(sessionId), limit, signal });
      book.noteUse(hits, { sessionId, turnId });
      return hits;
    },
  };
}
