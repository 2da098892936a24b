// Finds memories for a question: fuses full-text and vector rankings, then weighs the hits by recent use and importance. Searches kept
// memories only; candidates appear only in a person's own searches.

import type { Clock } from '../../../base/clock.ts';
import { type MemoryHit, type MemoryView, sharedScope } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { findTexts } from '../recall/recall-path.ts';
import { recencyOf, textAtTier, tierOf } from './decay.ts';
import type { MemoryStore, Recall, RecallRequest } from './ports.ts';

export interface RecallDeps {
  readonly store: MemoryStore;
  readonly clock: Clock;
}

const RANKED = 40;
/** Relevance comes first: recency and importance only reorder memories of about the same relevance. */
const RECENCY_WEIGHT = 0.25;
const IMPORTANCE_WEIGHT = 0.25;

export class MemoryRecall implements Recall {
  readonly #deps: RecallDeps;

  constructor(deps: RecallDeps) {
    this.#deps = deps;
  }

  /** Best first. Leaves out memories archived by age. */
  async recall({ query, agentId, limit, signal }: RecallRequest): Promise<MemoryHit[]> {
    const { store, clock } = this.#deps;
    const scopes = scopesOf(agentId);
    const nowMs = clock.nowMs();
    const counts = (memory: KeptMemory): boolean =>
      memory.state === 'kept' && scopes.includes(memory.scope) && tierOf(memory, nowMs) !== 'archived';
    const searched = {
      texts: store.texts,
      at: (rows: readonly number[]) => store.at(rows),
      rowOf: ({ row }: KeptMemory) => row,
      findMeaning: (asked: string, ranked: number) => store.findMeaning(asked, scopes, ranked, signal),
    };
    const { hits } = await findTexts(searched, { query, ranked: RANKED, wanted: limit, counts, signal });
    return hits
      .map(({ text: memory, score, foundBy }) => ({ memory, score: score * weightOf(memory, nowMs), foundBy }))
      .sort((a, b) => b.score - a.score)
      .filter(({ memory }) => !isOverruled(memory, store, counts))
      .slice(0, limit)
      .map(({ memory, score, foundBy }) => ({ ...viewOf(memory, store, nowMs), score, foundBy }));
  }
}

export function scopesOf(agentId: string): string[] {
  return [sharedScope, `agent:${agentId}`];
}

function weightOf(memory: KeptMemory, nowMs: number): number {
  return 1 - RECENCY_WEIGHT - IMPORTANCE_WEIGHT + RECENCY_WEIGHT * recencyOf(memory, nowMs) + IMPORTANCE_WEIGHT * memory.importance;
}

export function viewOf(memory: KeptMemory, store: Pick<MemoryStore, 'find' | 'seenIn' | 'contradictionsOf'>, nowMs: number): MemoryView {
  const { row: _row, ...rest } = memory;
  const tier = tierOf(memory, nowMs);
  const contradictions = store.contradictionsOf(memory.memoryId).flatMap(({ memoryId, otherId, reason }) => {
    const other = memoryId === memory.memoryId ? otherId : memoryId;
    const otherText = store.find(other)?.text;
    return otherText === undefined ? [] : [{ otherId: other, otherText, reason }];
  });
  return { ...rest, tier, shown: textAtTier(memory, tier), seenIn: store.seenIn(memory.memoryId), contradictions };
}

// Decides which of two contradictory memories a model sees until a person resolves the contradiction. The model never sees both.

/**
 * Whether a used memory that contradicts this one takes precedence. A pinned memory precedes an unpinned one; otherwise the newer one wins.
 */
export function isOverruled(
  memory: KeptMemory,
  store: Pick<MemoryStore, 'find' | 'contradictionsOf'>,
  isUsed: (other: KeptMemory) => boolean,
): boolean {
  return store.contradictionsOf(memory.memoryId).some(({ memoryId, otherId }) => {
    const other = store.find(memoryId === memory.memoryId ? otherId : memoryId);
    return other !== null && isUsed(other) && comesBefore(other, memory);
  });
}

function comesBefore(a: KeptMemory, b: KeptMemory): boolean {
  if (a.pinned !== b.pinned) return a.pinned;
  return a.createdAtMs === b.createdAtMs ? a.row > b.row : a.createdAtMs > b.createdAtMs;
}
