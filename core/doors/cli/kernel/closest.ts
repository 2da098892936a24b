// Finds the closest known word, for "did you mean".

import { editDistance } from '../../../base/edit-distance.ts';

/** Two swapped letters in a word of five count as two changes. */
const CHANGED_SHARE_MAX = 0.4;

/** Null if no word is close enough. */
export function closest(word: string, known: readonly string[]): string | null {
  const [best] = known
    .map((one) => ({ one, distance: editDistance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.one.length * CHANGED_SHARE_MAX)) ? best.one : null;
}
