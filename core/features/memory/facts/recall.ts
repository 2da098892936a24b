// Finds memories for a question: by words and by meaning, both rankings fused, then weighed by how recently they were used and how much
// they matter. Uses what is kept and nothing else; candidates are found by nobody but a person.

import type { Clock } from '../../../base/clock.ts';
import { fuseWordsAndMeaning } from '../../../base/rank-fusion.ts';
import { sharedScope, type MemoryHit } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import { recencyOf, tierOf } from './decay.ts';
import { isOverruled } from './overruled.ts';
import type { Recall, MemoryStore, RecallRequest } from './ports.ts';
import { viewOf } from './view.ts';

export interface RecallDeps {
  readonly store: MemoryStore;
  readonly clock: Clock;
}

/** Of each ranking, before it is known whose they are. */
const RANKED = 40;
const RANKED_WIDE = 400;
/** Relevance decides first: age and importance move a memory within what fits about as well. */
const RECENCY_WEIGHT = 0.25;
const IMPORTANCE_WEIGHT = 0.25;

const foundBy = ['words', 'meaning'] as const;

export class MemoryRecall implements Recall {
  readonly #deps: RecallDeps;

  constructor(deps: RecallDeps) {
    this.#deps = deps;
  }

  /** Best first. What is archived by its age is left out. */
  async recall({ query, agentId, limit, signal }: RecallRequest): Promise<MemoryHit[]> {
    const { store, clock } = this.#deps;
    const scopes = scopesOf(agentId);
    const nowMs = clock.nowMs();
    const usable = (memory: KeptMemory): boolean =>
      memory.state === 'kept' && scopes.includes(memory.scope) && tierOf(memory, nowMs) !== 'archived';
    const meaning = await store.findMeaning(query, scopes, RANKED, signal);
    const byWords = this.#words(query, Math.min(limit, RANKED), usable);
    const byMeaning = scoredOf(
      store,
      meaning.map(({ row, similarity }) => ({ row, score: similarity })),
    ).filter(({ memory }) => usable(memory));
    const known = new Map([...byWords, ...byMeaning].map(({ memory }) => [memory.row, memory]));
    return fuseWordsAndMeaning(byWords, byMeaning, (best) => store.coverage(query, best))
      .flatMap(({ key, score, rankings }) => {
        const memory = known.get(key);
        return memory === undefined ? [] : [{ memory, score: score * weightOf(memory, nowMs), rankings }];
      })
      .sort((a, b) => b.score - a.score)
      .filter(({ memory }) => !isOverruled(memory, store, usable))
      .slice(0, limit)
      .map(({ memory, score, rankings }) => ({
        ...viewOf(memory, store, nowMs),
        score,
        foundBy: foundBy.filter((_, index) => rankings.includes(index)),
      }));
  }

  /** Looked at again with more room where most that was found belongs to somebody else. */
  #words(query: string, wanted: number, usable: (memory: KeptMemory) => boolean): ScoredMemory[] {
    const { store } = this.#deps;
    const rows = store.findWords(query, RANKED);
    const found = scoredOf(store, rows).filter(({ memory }) => usable(memory));
    if (found.length >= wanted || rows.length < RANKED) return found;
    return scoredOf(store, store.findWords(query, RANKED_WIDE))
      .filter(({ memory }) => usable(memory))
      .slice(0, RANKED);
  }
}

interface ScoredMemory {
  readonly key: number;
  readonly score: number;
  readonly memory: KeptMemory;
}

/** In the order given. */
function scoredOf(store: MemoryStore, rows: readonly { readonly row: number; readonly score: number }[]): ScoredMemory[] {
  const scores = new Map(rows.map(({ row, score }) => [row, score]));
  return store.at(rows.map(({ row }) => row)).map((memory) => ({ key: memory.row, score: scores.get(memory.row) ?? 0, memory }));
}

export function scopesOf(agentId: string): string[] {
  return [sharedScope, `agent:${agentId}`];
}

function weightOf(memory: KeptMemory, nowMs: number): number {
  return 1 - RECENCY_WEIGHT - IMPORTANCE_WEIGHT + RECENCY_WEIGHT * recencyOf(memory, nowMs) + IMPORTANCE_WEIGHT * memory.importance;
}
