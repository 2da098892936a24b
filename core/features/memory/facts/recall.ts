// Finds memories for a question: fuses full-text and vector rankings, then weighs the hits by recent use and importance. Searches kept
// memories only; candidates appear only in a person's own searches.

import type { Clock } from '../../../base/clock.ts';
import { sharedScope, type MemoryHit } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { findTexts } from '../recall/recall-path.ts';
import { recencyOf, tierOf } from './decay.ts';
import { isOverruled } from './overruled.ts';
import type { MemoryStore, Recall, RecallRequest } from './ports.ts';
import { viewOf } from './view.ts';

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
