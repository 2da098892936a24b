// Several rankings of the same things made into one. Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): needs no comparable scores.

/** How little a place near the top counts more than one below it. The paper has 60 for many rankings of web pages; of two short ones, of which one
 *  may be poor, the tops have to count. */
const SMOOTHING = 10;

export interface Fused<K> {
  readonly key: K;
  /** 1 for what is first in every ranking. */
  readonly score: number;
  /** Which of the rankings hold it, by their places in the list. */
  readonly rankings: readonly number[];
}

/** Best first; equal ones in the order they were met. A key counts once in each ranking. */
export function fuseRankings<K>(rankings: readonly (readonly K[])[]): Fused<K>[] {
  const found = new Map<K, { score: number; rankings: number[] }>();
  for (const [index, ranking] of rankings.entries()) {
    let place = 0;
    for (const key of ranking) {
      const known = found.get(key) ?? { score: 0, rankings: [] };
      if (known.rankings.includes(index)) continue;
      place += 1;
      known.score += (SMOOTHING + 1) / (SMOOTHING + place) / rankings.length;
      known.rankings.push(index);
      found.set(key, known);
    }
  }
  return [...found].map(([key, { score, rankings: held }]) => ({ key, score, rankings: held })).sort((a, b) => b.score - a.score);
}
