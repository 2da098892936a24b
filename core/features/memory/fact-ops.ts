// Operations on memories. Thin: the memory book does the work.

import { mainAgentId } from '../../contracts/agents.ts';
import { sharedScope } from '../../contracts/features/memory.ts';
import type { OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { MemoryBook } from './facts/memory-book.ts';

interface Handled {
  readonly memory: MemoryBook;
  /** The state of vector search. */
  readonly embedder: () => OpResult<'knowledge.list'>['embedder'];
}

const LISTED = 100;
const RECALLED = 10;
const usualImportance = 0.5;

export function createMemoryOps({ memory, embedder }: Handled) {
  return {
    'memory.list': ({ limit = LISTED, offset = 0, ...query }) => ({ ...memory.list({ ...query, limit, offset }), embedder: embedder() }),
    'memory.get': ({ memoryId }) => memory.get(memoryId),
    'memory.recall': async ({ query, agentId = mainAgentId, limit = RECALLED }, { gone: signal }) => ({
      hits: await memory.recall({ query, agentId, limit, signal }),
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
  } satisfies Partial<OpHandlers>;
}
