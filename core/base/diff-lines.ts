// The lines in which two texts differ. Bounded in time. Pure. After E. Myers, "An O(ND) Difference Algorithm and Its Variations",
// Algorithmica 1 (1986).

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** If more lines differ than this, everything between the common beginning and the common end counts as replaced. */
const EDITS_MAX = 600;

export function diffOfTexts(before: string, after: string): DiffLine[] {
  const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'));
  return diffOfLines(linesOf(before), linesOf(after));
}

/** The lines of both texts in order. */
export function diffOfLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shortest = Math.min(before.length, after.length) - start;
  while (end < shortest && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const keep = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ kind: 'same', text }));
  return [
    ...keep(before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...keep(before.slice(before.length - end)),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const trace = searchForward(before, after);
  if (trace !== null) return walkBack(before, after, trace);
  return [...before.map((text) => ({ kind: 'removed' as const, text })), ...after.map((text) => ({ kind: 'added' as const, text }))];
}

/** Returns the furthest position on each diagonal, one array per number of edits, or null if there are too many edits. */
function searchForward(before: readonly string[], after: readonly string[]): Int32Array[] | null {
  const most = Math.min(EDITS_MAX, before.length + after.length);
  const trace: Int32Array[] = [];
  const reach = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let edits = 0; edits <= most; edits++) {
    trace.push(reach.slice());
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = stepsDown(reach, middle, diagonal, edits) ? at(reach, middle + diagonal + 1) : at(reach, middle + diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      reach[middle + diagonal] = x;
      if (x >= before.length && x - diagonal >= after.length) return trace;
    }
  }
  return null;
}

function walkBack(before: readonly string[], after: readonly string[], trace: readonly Int32Array[]): DiffLine[] {
  const edits: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  for (let count = trace.length - 1; count >= 0; count--) {
    const reach = trace[count] ?? new Int32Array();
    const middle = (reach.length - 1) / 2;
    const diagonal = x - y;
    const previous = stepsDown(reach, middle, diagonal, count) ? diagonal + 1 : diagonal - 1;
    const fromX = count === 0 ? 0 : at(reach, middle + previous);
    const fromY = count === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      edits.push({ kind: 'same', text: before[--x] ?? '' });
      y -= 1;
    }
    if (count === 0) break;
    if (x === fromX) edits.push({ kind: 'added', text: after[--y] ?? '' });
    else edits.push({ kind: 'removed', text: before[--x] ?? '' });
  }
  return edits.reverse();
}

/** Returns whether the best path to a diagonal adds a line rather than removes one. */
function stepsDown(reach: Int32Array, middle: number, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && at(reach, middle + diagonal - 1) < at(reach, middle + diagonal + 1);
}

function at(reach: Int32Array, index: number): number {
  return reach[index] ?? 0;
}
