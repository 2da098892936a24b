// The difference of two texts by lines, in unified format. Bounded in time and size. Pure. After E. Myers, "An O(ND) Difference Algorithm
// and Its Variations", Algorithmica 1 (1986).

export interface LineDiff {
  /** Unified hunks without file names; empty if the texts are the same. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** True if `text` was truncated. */
  readonly isCut: boolean;
}

/** If more lines differ than this, the middle is shown as replaced as a whole. */
const EDITS_MAX = 600;
const CONTEXT_LINES = 3;
const TEXT_CHARS_MAX = 100_000;
const LINE_CHARS_MAX = 2_000;

interface Edit {
  readonly kind: ' ' | '-' | '+';
  readonly line: string;
}

/** One run of changes with its context: the lines on both sides, and the number of lines before them. */
export interface LineHunk {
  readonly oldFrom: number;
  readonly newFrom: number;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

/** Returns the hunks of `diffLines` without truncation, in the same order. */
export function lineHunks(before: string, after: string): LineHunk[] {
  const edits = editScript(splitLines(before), splitLines(after));
  const side = (range: { from: number; to: number }, without: '+' | '-'): string[] =>
    edits
      .slice(range.from, range.to)
      .filter(({ kind }) => kind !== without)
      .map(({ line }) => line);
  return hunkRanges(edits).map((range) => ({
    oldFrom: side({ from: 0, to: range.from }, '+').length,
    newFrom: side({ from: 0, to: range.from }, '-').length,
    oldLines: side(range, '+'),
    newLines: side(range, '-'),
  }));
}

export function diffLines(before: string, after: string): LineDiff {
  const edits = editScript(splitLines(before), splitLines(after));
  const addedLines = edits.filter(({ kind }) => kind === '+').length;
  const removedLines = edits.filter(({ kind }) => kind === '-').length;
  if (addedLines + removedLines === 0) return { text: '', addedLines, removedLines, isCut: false };
  const whole = formatHunks(edits);
  const isCut = whole.length > TEXT_CHARS_MAX;
  return { text: isCut ? whole.slice(0, whole.lastIndexOf('\n', TEXT_CHARS_MAX) + 1) : whole, addedLines, removedLines, isCut };
}

const noEnd = '\n\\ No newline at end of file';

/** Joins the lines of `splitLines` to a text. */
export function joinLines(lines: readonly string[]): string {
  return lines.map((line) => (line.endsWith(noEnd) ? line.slice(0, -noEnd.length) : `${line}\n`)).join('');
}

/** A last line without a line end differs from a line with one. */
export function splitLines(text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return last === '' ? lines : [...lines, `${last}${noEnd}`];
}

function editScript(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const shortest = Math.min(before.length, after.length) - start;
  while (end < shortest && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const keep = (lines: readonly string[]): Edit[] => lines.map((line) => ({ kind: ' ', line }));
  return [
    ...keep(before.slice(0, start)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...keep(before.slice(before.length - end)),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): Edit[] {
  const trace = searchForward(before, after);
  if (trace !== null) return walkBack(before, after, trace);
  return [...before.map((line) => ({ kind: '-' as const, line })), ...after.map((line) => ({ kind: '+' as const, line }))];
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

function walkBack(before: readonly string[], after: readonly string[], trace: readonly Int32Array[]): Edit[] {
  const edits: Edit[] = [];
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
      edits.push({ kind: ' ', line: before[--x] ?? '' });
      y -= 1;
    }
    if (count === 0) break;
    if (x === fromX) edits.push({ kind: '+', line: after[--y] ?? '' });
    else edits.push({ kind: '-', line: before[--x] ?? '' });
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

function formatHunks(edits: readonly Edit[]): string {
  const parts: string[] = [];
  let oldLine = 1;
  let newLine = 1;
  let index = 0;
  for (const { from, to } of hunkRanges(edits)) {
    for (; index < from; index++) {
      oldLine += 1;
      newLine += 1;
    }
    const hunk = edits.slice(from, to);
    const oldCount = hunk.filter(({ kind }) => kind !== '+').length;
    const newCount = hunk.filter(({ kind }) => kind !== '-').length;
    parts.push(`@@ -${place(oldLine, oldCount)} +${place(newLine, newCount)} @@\n`);
    for (const { kind, line } of hunk) parts.push(`${kind}${shorten(line)}\n`);
    oldLine += oldCount;
    newLine += newCount;
    index = to;
  }
  return parts.join('');
}

/** Returns runs of changes with context lines. Runs whose contexts touch are merged. */
function hunkRanges(edits: readonly Edit[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const [index, { kind }] of edits.entries()) {
    if (kind === ' ') continue;
    const from = Math.max(0, index - CONTEXT_LINES);
    const to = Math.min(edits.length, index + CONTEXT_LINES + 1);
    const last = ranges.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

function place(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`;
}

function shorten(line: string): string {
  return line.length <= LINE_CHARS_MAX ? line : `${line.slice(0, LINE_CHARS_MAX)}… (${line.length} characters)`;
}
