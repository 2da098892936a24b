// Merges rankings of the same items: scales their scores to 0 to 1 and adds them by weight. Unlike rank fusion, a clear leader of one
// ranking stays first if the other ranking has no clear result (Bruch, Gai, Ingber: An Analysis of Fusion Functions for Hybrid Retrieval,
// 2023).

export interface Ranking<K> {
  /** Weights add up to 1. The weight of an empty ranking goes to the others. */
  readonly weight: number;
  /** BM25 scores are scaled from 0. Cosines never come close to 0, so they are scaled from the lowest score found. */
  readonly kind: 'bm25' | 'cosine';
  /** Best first. */
  readonly found: readonly { readonly key: K; readonly score: number }[];
}

/** If the best cosine exceeds the lowest by less than this, the ranking says little and counts for less. */
const COSINE_SPREAD = 0.3;

export interface Fused<K> {
  readonly key: K;
  /** 1 for an item that clearly leads every ranking. */
  readonly score: number;
  /** The indexes of the rankings that contain the item. */
  readonly rankings: readonly number[];
}

/** Best first; equal scores in order of first occurrence. A key counts once per ranking. */
export function fuseRankings<K>(rankings: readonly Ranking<K>[]): Fused<K>[] {
  const weights = rankings.reduce((sum, { weight, found }) => sum + (found.length === 0 ? 0 : weight), 0);
  const fused = new Map<K, { score: number; rankings: number[] }>();
  for (const [index, { weight, kind, found }] of rankings.entries()) {
    const best = found[0]?.score ?? 0;
    const least = kind === 'bm25' || found.length === 1 ? 0 : (found.at(-1)?.score ?? 0);
    const span = kind === 'bm25' || found.length === 1 ? best : Math.max(best - least, COSINE_SPREAD);
    for (const { key, score } of found) {
      const known = fused.get(key) ?? { score: 0, rankings: [] };
      if (known.rankings.includes(index)) continue;
      known.score += (weight / weights) * (span > 0 ? Math.max(0, score - least) / span : 0);
      known.rankings.push(index);
      fused.set(key, known);
    }
  }
  return [...fused].map(([key, { score, rankings: held }]) => ({ key, score, rankings: held })).sort((a, b) => b.score - a.score);
}

type Found<K> = Ranking<K>['found'];

/** Merges full-text and vector search, in this order. `coverage` is called for the best full-text hit, and only if both found something. */
export function fuseWordsAndMeaning<K>(words: Found<K>, meaning: Found<K>, coverage: (best: K) => number): Fused<K>[] {
  const [best] = words;
  const weight = best === undefined || meaning.length === 0 ? 1 : wordsWeight(coverage(best.key));
  return fuseRankings([
    { weight, kind: 'bm25', found: words },
    { weight: best === undefined ? 1 : 1 - weight, kind: 'cosine', found: meaning },
  ]);
}

/**
 * Returns the weight of full-text search relative to vector search, from the share, 0 to 1, of the query's terms that the best full-text
 * hit contains: a query in the words of the text is matched by words, a paraphrase by meaning.
 */
export function wordsWeight(coverage: number): number {
  return 0.3 + 0.6 * coverage;
}
