// The similarity floor, below which texts count as unrelated: its measurement, and its effect on results.

import { beforeAll, expect, test } from 'vitest';
import { hashedVector } from '../../../../tests/doubles/hashed-embedder.ts';
import { loadSentenceModel } from '../../../../tests/doubles/sentence-embedder.ts';
import { measureFloor, referenceTexts, relevantOf } from './relevance.ts';

let floor = 0;
let vectorsOf: (texts: readonly string[]) => Promise<readonly Float32Array[]>;

beforeAll(async () => {
  const model = await loadSentenceModel();
  vectorsOf = async (texts) => (await model(texts, 0)).map((vector) => Float32Array.from(vector));
  floor = measureFloor(await vectorsOf(referenceTexts));
}, 120_000);

const near = (...similarities: number[]) => similarities.map((similarity) => ({ similarity }));

test('the floor of a sentence encoder separates unrelated from related texts', () => {
  expect(floor).toBeGreaterThan(0.2);
  expect(floor).toBeLessThan(0.35);
});

test('a model that finds all texts similar gets a high floor', async () => {
  const vectors = await vectorsOf(referenceTexts);
  // As in models whose vectors all point in one direction.
  const shifted = vectors.map((vector) => Float32Array.from([...vector, 2]));
  expect(measureFloor(shifted)).toBeGreaterThan(0.8);
  expect(measureFloor(shifted)).toBeLessThan(0.95);
});

test('a model that hardly distinguishes texts gets a floor that removes no answer', () => {
  const vectors = referenceTexts.map((text) => hashedVector(text));
  expect(measureFloor(vectors)).toBeLessThan(0.05);
});

test('removes results below the floor, and those far below the best one', () => {
  expect(relevantOf(near(0.5, 0.34, 0.29, 0.1), 0.28)).toEqual(near(0.5));
  expect(relevantOf(near(0.5, 0.4, 0.36, 0.1), 0.28)).toEqual(near(0.5, 0.4, 0.36));
  expect(relevantOf(near(0.25, 0.2), 0.28)).toEqual([]);
});

test('no result counts as related before the floor is measured', () => {
  expect(relevantOf(near(0.5, 0.1), null)).toEqual([]);
});
