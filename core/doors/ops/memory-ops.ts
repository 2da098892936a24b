// Operations on what is remembered and on the person's documents. Thin: what they do is done in core/mind.

import { mainAgentId } from '../../contracts/agents.ts';
import { sharedScope } from '../../contracts/memory.ts';
import type { memoryOps } from '../../contracts/memory-ops.ts';
import type { Caller, OpHandlers } from '../../contracts/ops.ts';
import type { OpsDeps } from './deps.ts';

type MemoryOps = Pick<OpHandlers, keyof typeof memoryOps>;

const LISTED = 100;
const RECALLED = 10;
const FOUND = 8;
const usualImportance = 0.5;

export function createMemoryOps({ memory, knowledge, embedder, closing }: OpsDeps): MemoryOps {
  const signalOf = (caller: Caller): AbortSignal => (caller.signal === undefined ? closing : AbortSignal.any([caller.signal, closing]));
  return {
    'memory.list': ({ limit = LISTED, offset = 0, ...query }) => ({ ...memory.list({ ...query, limit, offset }), embedder: embedder() }),
    'memory.get': ({ memoryId }) => memory.get(memoryId),
    'memory.recall': async ({ query, agentId = mainAgentId, limit = RECALLED }, caller) => ({
      hits: await memory.recall({ query, agentId, limit, signal: signalOf(caller) }),
      embedder: embedder(),
    }),
    'memory.add': ({ text, kind = 'fact', scope = sharedScope, importance = usualImportance, pinned = false }, caller) => {
      const origin = { by: 'person', actor: caller.actor, sessionId: null, turnId: null, untrusted: [] } as const;
      return memory.get(memory.propose({ text, kind, scope, importance, pinned }, origin).memory.memoryId);
    },
    'memory.promote': ({ memoryId }, caller) => memory.promote(memoryId, caller.actor),
    'memory.reject': ({ memoryId }, caller) => {
      memory.reject(memoryId, caller.actor);
      return { memoryId };
    },
    'memory.pin': ({ memoryId, pinned }, caller) => memory.pin(memoryId, pinned, caller.actor),
    'memory.forget': ({ memoryId }, caller) => {
      memory.forget(memoryId, caller.actor);
      return { memoryId };
    },
    'memory.settle': ({ memoryId, otherId, keep }, caller) => memory.settle(memoryId, otherId, keep, caller.actor),
    'memory.export': () => memory.export(),
    'memory.import': ({ text, state = 'kept' }, caller) => memory.import(text, state, caller.actor),
    'knowledge.list': () => ({ sources: knowledge.list(), indexing: knowledge.isIndexing, embedder: embedder() }),
    'knowledge.status': ({ source, limit = LISTED }) => knowledge.status(source, limit),
    'knowledge.search': async ({ query, source, limit = FOUND }, caller) => ({
      evidence: await knowledge.search({ query, source, limit, signal: signalOf(caller) }),
      embedder: embedder(),
    }),
    'knowledge.reindex': ({ source }) => knowledge.reindex(source),
  };
}
