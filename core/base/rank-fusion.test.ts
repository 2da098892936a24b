import { expect, test } from 'vitest';
import { fuseRankings, wordsWeight, type Ranking } from './rank-fusion.ts';

const ranked = (weight: number, kind: Ranking<string>['kind'], scores: Record<string, number>): Ranking<string> => ({
  weight,
  kind,
  found: Object.entries(scores).map(([key, score]) => ({ key, score })),
});
const keysOf = (rankings: readonly Ranking<string>[]): string[] => fuseRankings(rankings).map(({ key }) => key);

test('the leader of every ranking scores 1 and lists its rankings', () => {
  const fused = fuseRankings([ranked(0.6, 'bm25', { a: 9, b: 3 }), ranked(0.4, 'cosine', { a: 0.8, c: 0.5 })]);
  expect(fused[0]).toEqual({ key: 'a', score: 1, rankings: [0, 1] });
  expect(fused.find(({ key }) => key === 'b')).toMatchObject({ rankings: [0] });
  expect(fused.find(({ key }) => key === 'b')?.score).toBeCloseTo(0.2);
  // The last entry of a ranking that is scaled from its lowest score.
  expect(fused.find(({ key }) => key === 'c')).toEqual({ key: 'c', score: 0, rankings: [1] });
});

test('a clear leader stays first if the other ranking has no clear result', () => {
  const words = ranked(0.7, 'bm25', { right: 12, other: 4, another: 3 });
  const meaning = ranked(0.3, 'cosine', { other: 0.52, another: 0.51, third: 0.5 });
  expect(keysOf([words, meaning])[0]).toBe('right');
});

test('close cosines say little, and a single cosine scores 1', () => {
  const near = ranked(1, 'cosine', { a: 0.52, b: 0.51, c: 0.5 });
  expect(fuseRankings([near])[0]?.score).toBeLessThan(0.1);
  expect(keysOf([near])).toEqual(['a', 'b', 'c']);
  expect(fuseRankings([ranked(1, 'cosine', { a: 0.5 })])).toEqual([{ key: 'a', score: 1, rankings: [0] }]);
});

test('an empty ranking leaves its weight to the others', () => {
  expect(fuseRankings([ranked(0.25, 'bm25', {}), ranked(0.75, 'cosine', { a: 0.9, b: 0.1 })])).toEqual([
    { key: 'a', score: 1, rankings: [1] },
    { key: 'b', score: 0, rankings: [1] },
  ]);
  expect(fuseRankings<string>([ranked(0.5, 'bm25', {}), ranked(0.5, 'bm25', {})])).toEqual([]);
});

test('a key counts once by its best rank; equal scores keep order and count fully', () => {
  const twice: Ranking<string> = {
    weight: 1,
    kind: 'bm25',
    found: [
      { key: 'a', score: 2 },
      { key: 'b', score: 1 },
      { key: 'b', score: 1 },
    ],
  };
  expect(fuseRankings([twice])).toEqual([
    { key: 'a', score: 1, rankings: [0] },
    { key: 'b', score: 0.5, rankings: [0] },
  ]);
  expect(fuseRankings([ranked(1, 'bm25', { x: 4, y: 4 })]).map(({ key, score }) => `${key}${score}`)).toEqual(['x1', 'y1']);
});

test('full-text search decides if words match, vector search for a paraphrase', () => {
  const words = { worded: 5, weak: 4 };
  const meaning = { meant: 0.9, weak: 0.5 };
  const fusedAt = (coverage: number): string | undefined => {
    const weight = wordsWeight(coverage);
    return keysOf([ranked(weight, 'bm25', words), ranked(1 - weight, 'cosine', meaning)])[0];
  };
  expect(fusedAt(1)).toBe('worded');
  expect(fusedAt(0.1)).toBe('meant');
  expect(wordsWeight(0)).toBeGreaterThan(0);
  expect(wordsWeight(1)).toBeLessThan(1);
});
