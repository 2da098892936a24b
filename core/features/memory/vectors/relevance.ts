// Decides, for the model that made the vectors, from which similarity two texts are related. Pure.

import { referencePairs } from './reference-texts.ts';

export interface Near {
  readonly similarity: number;
}

/** The share of unrelated pairs that fall below the floor. */
const UNRELATED_BELOW = 0.95;
/**
 * The maximum share of related pairs that may fall below the floor. A model that hardly distinguishes texts therefore gets a low floor, and
 * full-text search decides.
 */
const RELATED_BELOW = 0.25;
/** Results in this lowest share of the range between the floor and the best result are left out. */
const BELOW_BEST = 1 / 3;

/** The texts embedded to measure the floor: all questions, then all answers. */
export const referenceTexts: readonly string[] = [
  ...referencePairs.map(([question]) => question),
  ...referencePairs.map(([, answer]) => answer),
];

/** Takes the vectors of the reference texts, in their order. */
export function measureFloor(vectors: readonly Float32Array[]): number {
  const count = referencePairs.length;
  const unrelated: number[] = [];
  const related: number[] = [];
  for (const [i, question] of vectors.slice(0, count).entries()) {
    for (const [j, answer] of vectors.slice(count).entries()) (i === j ? related : unrelated).push(cosine(question, answer));
  }
  return Math.min(quantile(unrelated, UNRELATED_BELOW), quantile(related, RELATED_BELOW));
}

/**
 * The nearest results that are related to the question, best first. Empty until the floor is measured, because the nearest result may be
 * unrelated.
 */
export function relevantOf<N extends Near>(nearest: readonly N[], floor: number | null): readonly N[] {
  const [best] = nearest;
  if (floor === null || best === undefined) return [];
  const least = floor + Math.max(0, best.similarity - floor) * BELOW_BEST;
  return nearest.filter(({ similarity }) => similarity >= least);
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))] ?? 0;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let product = 0;
  for (const [i, value] of a.entries()) product += value * (b[i] ?? 0);
  const length = Math.hypot(...a) * Math.hypot(...b);
  return length === 0 ? 0 : product / length;
}
