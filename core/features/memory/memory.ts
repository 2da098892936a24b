// The memory feature: statements worth remembering, and the person's documents. Both have full-text search, and vector search if an
// embedder is configured.

import { homedir } from 'node:os';
import { mainAgentId } from '../../contracts/agents.ts';
import type { TrayClawOptions } from '../../contracts/library.ts';
import { sharedScope } from '../../contracts/features/memory.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { isInside } from '../../base/inside-folder.ts';
import { Lifetimes } from '../../base/disposable.ts';
import { realOf } from '../../guard/workspace/workspace.ts';
import { documentText, isOwnData, readablePage } from '../../hands/tools/tools.ts';
import { estimateTokens } from '../../mind/llm/llm.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { createKnowledgeOps } from './document-ops.ts';
import { DocumentThread } from './documents/document-thread.ts';
import { KnowledgePackSource } from './documents/knowledge-pack-source.ts';
import { knowledgeMigrations, KnowledgeRows } from './documents/knowledge-rows.ts';
import { Knowledge } from './documents/knowledge.ts';
import { placeOf, sourcesOf, type SourceFolders } from './documents/source-place.ts';
import { createMemoryOps } from './fact-ops.ts';
import { formResolver } from './facts/contradictions.ts';
import { formExtractor } from './facts/extract.ts';
import { JoinedRecall } from './facts/joined-recall.ts';
import { MemoryBook } from './facts/memory-book.ts';
import { MemoryCollector } from './facts/memory-collector.ts';
import { MemoryMirror } from './facts/memory-mirror.ts';
import { MemoryPackSource } from './facts/memory-pack-source.ts';
import { memoryHash, memoryMigrations, MemoryRows } from './facts/memory-rows.ts';
import { memoryStoreOf } from './facts/memory-store.ts';
import { MemoryRecall } from './facts/recall.ts';
import { createKnowledgeTool, createMemoryTools, type MemoryPort } from './tools.ts';
import {
  createEmbedding,
  createNearest,
  embedderState,
  EVERYBODY,
  type Embedding,
  type EmbeddingSpine,
  type MemoryStores,
  type Nearest,
} from './vectors/embedding.ts';
import { vectorMigrations, VectorStore } from './vectors/vector-store.ts';

export { KnowledgeRows } from './documents/knowledge-rows.ts';
export { memoryHash, MemoryRows, memoryMigrations } from './facts/memory-rows.ts';
export { memoryStoreOf } from './facts/memory-store.ts';
export type { MemoryStore } from './facts/ports.ts';
export { MemoryRecall } from './facts/recall.ts';
export { VectorStore, vectorMigrations } from './vectors/vector-store.ts';

type Taken = EmbeddingSpine & Pick<Spine, 'ids' | 'facts' | 'sources' | 'settings' | 'tools' | 'engine' | 'options'>;

/** The parts an embedding program can replace. */
type Ports = Pick<TrayClawOptions, 'memoryExtractor' | 'memoryResolver' | 'memorySources' | 'knowledgeResolvers'>;

export const memory = defineBuiltInFeature({
  name: 'memory',
  migrations: [...memoryMigrations, ...knowledgeMigrations, ...vectorMigrations],
  rows: (storage): MemoryStores => ({
    memories: new MemoryRows(storage.db),
    knowledge: new KnowledgeRows(storage),
    vectors: new VectorStore(storage.db),
  }),
  create: (spine: Taken, stores: MemoryStores) => {
    const { config, clock, log, logger, settings, tools, engine, options: ports } = spine;
    const lifetimes = new Lifetimes();
    const embedding = createEmbedding(spine, stores, lifetimes, engine);
    const near = createNearest(logger, stores, embedding);
    const { book, recall, store } = createFacts(spine, stores, near, ports);
    const knowledge = createDocuments(spine, stores, { near, embedding, ports, lifetimes });
    const collector = new MemoryCollector({
      book,
      extractor: ports.memoryExtractor ?? formExtractor,
      reads: log.reads,
      cursor: stores.memories,
      transact: (work) => log.transact(work),
    });
    const mirror = lifetimes.add(createMirror(spine, stores, ports));
    const collects = config.memory.enabled && config.memory.fromTurns;
    const folders = sourceFolders(spine.facts);
    const offer = searchOffer(knowledge, tools);
    offer();
    settings.useAtOnce(['knowledge.sources'], (now) => {
      knowledge.take(sourcesOf(now.knowledge.sources, folders));
      offer();
    });
    const embedder = (): ReturnType<typeof embedderState> => embedderState(embedding);
    return {
      handlers: {
        ...createMemoryOps({ memory: book, embedder }),
        ...createKnowledgeOps({ knowledge, embedder, settings, sourcePlace: (path) => placeOf(path, folders) }),
      },
      packSources: [
        new MemoryPackSource({ store, source: recall, clock, snippetsMax: config.memory.enabled ? config.memory.snippetsMax : 0 }),
        new KnowledgePackSource({
          knowledge,
          enabled: config.knowledge.inContext,
          evidenceMax: config.knowledge.evidenceMax,
          estimate: estimateTokens,
        }),
      ],
      tools: config.memory.enabled ? createMemoryTools(memoryPort(spine, book)) : [],
      gives: {
        /** Null if there is no usable embedding model. */
        embeddings: () => embedding.working?.embedder ?? null,
      },
      /** Reads new messages and starts the keeper of vectors. Returns whether there may be more messages. */
      catchUp: (): boolean => {
        const hasMore = collects && collector.catchUp();
        mirror.poke();
        embedding.working?.ledger.flush();
        embedding.working?.keeper.poke();
        return hasMore;
      },
      daily: (nowMs: number) => void book.dropStaleCandidates(nowMs),
      begin: () => {
        knowledge.start();
        embedding.working?.keeper.poke();
      },
      dispose: () => lifetimes.dispose(),
    };
  },
});

function createMirror({ later, logger, log }: Taken, { memories }: MemoryStores, { memorySources }: Ports): MemoryMirror {
  return new MemoryMirror({
    sources: memorySources ?? [],
    reads: log.reads,
    find: (memoryId) => memories.find(memoryId),
    cursors: {
      get: (source) => memories.cursorOf(`source ${source}`),
      set: (source, seq) => memories.setCursor(`source ${source}`, seq),
    },
    later,
    logger,
  });
}

/** Offers the search tool to the model as long as there are sources to search. */
function searchOffer(knowledge: Knowledge, tools: Taken['tools']): () => void {
  const tool = createKnowledgeTool({ search: (query, about, signal) => knowledge.search({ query, ...about, signal }) });
  let withdraw: (() => void) | null = null;
  return () => {
    if (knowledge.hasSources) withdraw ??= tools.register(tool);
    else {
      withdraw?.();
      withdraw = null;
    }
  };
}

function createFacts({ clock, ids, config, log }: Taken, { memories }: MemoryStores, near: Nearest, ports: Ports) {
  const hashOf = (row: number): string | null => {
    const [kept] = memories.at([row]);
    return kept === undefined ? null : memoryHash(kept.text);
  };
  const store = memoryStoreOf(memories, log, (query, scopes, limit, signal) => near('memory', query, { scopes, limit, hashOf, signal }));
  const own = new MemoryRecall({ store, clock });
  const { memorySources = [] } = ports;
  const recall = memorySources.length === 0 ? own : new JoinedRecall({ own, sources: memorySources, nowMs: () => clock.nowMs() });
  const resolver = ports.memoryResolver ?? formResolver;
  const book = new MemoryBook({ store, source: recall, resolver, clock, ids, candidatesMax: config.memory.candidatesMax });
  return { store, recall, book };
}

interface KnowledgeParts {
  readonly near: Nearest;
  readonly embedding: Embedding;
  readonly ports: Ports;
  readonly lifetimes: Lifetimes;
}

function createDocuments(
  spine: Taken,
  { knowledge: rows }: MemoryStores,
  { near, embedding, ports, lifetimes }: KnowledgeParts,
): Knowledge {
  const { config, facts } = spine;
  const reader = new DocumentThread();
  // Lifetimes are closed in reverse order: Knowledge, which creates jobs, before the reader that runs them.
  lifetimes.add(reader);
  return lifetimes.add(
    new Knowledge({
      ...spine,
      store: rows,
      findMeaning: (query, limit, signal) =>
        near('knowledge', query, { scopes: [EVERYBODY], limit, hashOf: (row) => rows.hashOf(row), signal }),
      reader,
      readPage: readablePage,
      readOther: documentText,
      sources: sourcesOf(config.knowledge.sources, sourceFolders(facts)),
      resolvers: ports.knowledgeResolvers ?? [],
      untrustedOf: (file) => untrustedOf(file, spine),
      skipped: [facts.home],
      onIndexed: () => embedding.working?.keeper.poke(),
    }),
  );
}

/**
 * The same rule as for a tool that reads the file. Outside the open folders, any program may have written it; inside, the log knows its
 * origin.
 */
function untrustedOf(file: string, { facts, sources }: Taken): readonly TaintSource[] {
  const opened = [facts.workspace, ...facts.extraFolders.map(realOf)].some((folder) => isInside(file, folder));
  return opened ? sources.ofFile(file) : [{ kind: 'file', where: file }];
}

function sourceFolders(facts: Taken['facts']): SourceFolders {
  const opened = [facts.workspace, ...facts.extraFolders.map(realOf)];
  return { workspace: facts.workspace, userHome: homedir(), opened, isOwn: (real) => isOwnData(real, facts) };
}

function memoryPort({ log, sources }: Taken, book: MemoryBook): MemoryPort {
  const agentOf = (sessionId: string): string => log.index.session(sessionId)?.agentId ?? mainAgentId;
  return {
    remember: ({ text, kind, own, importance }, { sessionId, turnId, idempotencyKey }) => {
      const agentId = agentOf(sessionId);
      const untrusted = sources.ofSession(sessionId);
      const origin = { by: 'agent', actor: `agent ${agentId}`, sessionId, turnId, untrusted } as const;
      const scope = own ? `agent:${agentId}` : sharedScope;
      const { memory: kept, isNew } = book.propose({ text, kind, importance, scope, memoryId: `mem_${idempotencyKey}` }, origin);
      return { memoryId: kept.memoryId, isKept: kept.state === 'kept', isNew, contradicts: book.keptAgainst(kept.memoryId) };
    },
    recall: async (query, limit, { sessionId, turnId, signal }) => {
      const hits = await book.recall({ query, agentId: agentOf(sessionId), limit, signal });
      book.noteUse(hits, { sessionId, turnId });
      return hits;
    },
  };
}
