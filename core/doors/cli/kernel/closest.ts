// Finds the word that was probably meant, for "did you mean".

import { editDistance } from '../../../base/edit-distance.ts';

/** Two swapped letters count as two changes of five. */
const CHANGED_SHARE_MAX = 0.4;

/** Null if none is close: too many letters would have to change. */
export function closest(word: string, known: readonly string[]): string | null {
  const [best] = known
    .map((one) => ({ one, distance: editDistance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.one.length * CHANGED_SHARE_MAX)) ? best.one : null;
}
