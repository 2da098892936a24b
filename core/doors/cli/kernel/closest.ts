// Finds the word that was probably meant, for "did you mean".

/** Two swapped letters count as two changes of five. */
const CHANGED_SHARE_MAX = 0.4;

/** Null if none is close: too many letters would have to change. */
export function closest(word: string, known: readonly string[]): string | null {
  const [best] = known
    .map((one) => ({ one, distance: distanceOf(word.toLowerCase(), one.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.one.length * CHANGED_SHARE_MAX)) ? best.one : null;
}

/** Letters to add, drop or change. */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [at, other] of [...to].entries()) {
      const change = (row[at] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
