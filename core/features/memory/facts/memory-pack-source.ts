// Chooses the memories that a turn adds to the model's context: pinned memories, and memories that match the question. Records their use at
// most once a day.

import type { Clock } from '../../../base/clock.ts';
import type { MemoryView } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import type { PackPart, PackSourceRequest } from '../../../contracts/pack-source.ts';
import type { Recall, MemoryStore } from './ports.ts';
import { isOverruled, scopesOf, viewOf } from './recall.ts';

export interface MemoryPackDeps {
  readonly store: MemoryStore;
  readonly source: Recall;
  readonly clock: Clock;
  readonly snippetsMax: number;
}

const DAY_MS = 86_400_000;

export class MemoryPackSource {
  readonly section = 'memory' as const;
  readonly #deps: MemoryPackDeps;

  constructor(deps: MemoryPackDeps) {
    this.#deps = deps;
  }

  async select({
    session,
    agent,
    query,
    signal,
  }: Pick<PackSourceRequest, 'session' | 'agent' | 'query' | 'signal'>): Promise<readonly PackPart[]> {
    const { store, source, clock, snippetsMax } = this.#deps;
    if (snippetsMax === 0) return [];
    const nowMs = clock.nowMs();
    const scopes = scopesOf(agent);
    // Only another pinned memory overrules a pinned one.
    const isUsed = ({ state, scope, pinned: isPinned }: KeptMemory): boolean => isPinned && state === 'kept' && scopes.includes(scope);
    const pinned = store
      .pinned(scopes, snippetsMax)
      .filter((memory) => !isOverruled(memory, store, isUsed))
      .map((memory) => viewOf(memory, store, nowMs));
    const held = new Set(pinned.map(({ memoryId }) => memoryId));
    const found = query.trim() === '' ? [] : await source.recall({ query, agentId: agent, limit: snippetsMax, signal });
    const shown: (MemoryView & { readonly score?: number })[] = [...pinned, ...found.filter(({ memoryId }) => !held.has(memoryId))].slice(
      0,
      snippetsMax,
    );
    noteUse(store, shown, { sessionId: session, turnId: null, nowMs });
    return shown.map(partOf);
  }
}

export interface UsePlace {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly nowMs: number;
}

/** Use is not recorded if the memory was used less than a day ago. */
export function noteUse(store: Pick<MemoryStore, 'append'>, used: readonly MemoryView[], { sessionId, turnId, nowMs }: UsePlace): void {
  const memoryIds = used.filter(({ usedAtMs }) => nowMs - usedAtMs >= DAY_MS).map(({ memoryId }) => memoryId);
  if (memoryIds.length > 0) store.append([{ type: 'memory.recalled', body: { memoryIds, sessionId, turnId } }]);
}

function partOf(memory: MemoryView & { readonly score?: number }): PackPart {
  // Mentions the contradiction without quoting the other memory, because the model must see only one of the two.
  const open =
    memory.contradictions.length === 0 ? '' : '\n(Not settled: it contradicts something else that was said; the person decides.)';
  return {
    id: memory.memoryId,
    title: `${memory.kind}, ${new Date(memory.createdAtMs).toISOString().slice(0, 10)}${memory.pinned ? ', pinned' : ''}`,
    text: memory.shown + open,
    source: `memory ${memory.memoryId}`,
    ...(memory.score === undefined ? {} : { score: memory.score }),
    ...(memory.untrusted.length === 0 ? {} : { tainted: memory.untrusted }),
  };
}
