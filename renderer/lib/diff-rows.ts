// Turns a unified diff into rows: numbered, removals next to the additions that replace them, unchanged runs in one row, differing words
// marked; and rows into pairs for two columns. Pure.

export interface DiffRow {
  readonly kind: 'add' | 'cut' | 'same' | 'gap';
  /** The text without its sign. */
  readonly text: string;
  /** The line numbers before and after; null if the line does not exist there, or the number is unknown. */
  readonly old: number | null;
  readonly new: number | null;
  /** For a gap: the number of unchanged lines it represents; null if unknown. */
  readonly skipped: number | null;
  /** The index of its hunk; -1 if the difference has none. */
  readonly hunk: number;
  /** The part of the text that differs from the line that it replaces or that replaces it. */
  readonly mark?: { readonly from: number; readonly to: number };
}

/** One line of two columns; a gap is on both sides. */
export interface DiffPair {
  readonly left: DiffRow | null;
  readonly right: DiffRow | null;
}

/** A long block is shown in parts: at most this many lines of one side, then the lines of the other side that replace them. */
const pairedLines = 6;
interface Position {
  old: number | null;
  new: number | null;
  hunk: number;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,\d+)? @@/;

export function toDiffRows(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const at: Position = { old: null, new: null, hunk: -1 };
  let block: { cut: DiffRow[]; add: DiffRow[] } = { cut: [], add: [] };
  const close = (): void => {
    rows.push(...paired(block.cut, block.add));
    block = { cut: [], add: [] };
  };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const sign = line[0];
    if (sign === '-') {
      // A removal after additions starts a new block.
      if (block.add.length > 0) close();
      block.cut.push({ kind: 'cut', text: line.slice(1), old: at.old, new: null, skipped: null, hunk: at.hunk });
      at.old = next(at.old);
    } else if (sign === '+') {
      block.add.push({ kind: 'add', text: line.slice(1), old: null, new: at.new, skipped: null, hunk: at.hunk });
      at.new = next(at.new);
    } else {
      close();
      if (sign === '@') rows.push(...gapBefore(line, at));
      else rows.push(sameRow(line, at));
    }
  }
  close();
  return rows;
}

function next(number: number | null): number | null {
  return number === null ? null : number + 1;
}

function sameRow(line: string, at: Position): DiffRow {
  // "\ No newline at end of file" is a remark, not a line.
  if (line.startsWith('\\')) return { kind: 'same', text: line, old: null, new: null, skipped: null, hunk: at.hunk };
  const row: DiffRow = { kind: 'same', text: line.slice(1), old: at.old, new: at.new, skipped: null, hunk: at.hunk };
  at.old = next(at.old);
  at.new = next(at.new);
  return row;
}

/** The header of a hunk states its position; the lines before it are unchanged. */
function gapBefore(line: string, at: Position): DiffRow[] {
  at.hunk += 1;
  const gap = { kind: 'gap', text: '', old: null, new: null, hunk: at.hunk } as const;
  const found = hunkHead.exec(line);
  if (found === null) return [{ ...gap, skipped: null }];
  // A side without lines is given by the number of the line before it.
  const start = Number(found[1]) + (found[2] === '0' ? 1 : 0);
  const skipped = start - (at.old ?? 1);
  at.old = start;
  at.new = Math.max(1, Number(found[3]));
  return skipped > 0 ? [{ ...gap, skipped }] : [];
}

function paired(cut: readonly DiffRow[], add: readonly DiffRow[]): DiffRow[] {
  const [cuts, adds] = marked(cut, add);
  const parts = Math.max(1, Math.ceil(Math.max(cuts.length, adds.length) / pairedLines));
  if (cuts.length === 0 || adds.length === 0 || parts === 1) return [...cuts, ...adds];
  const part = (rows: readonly DiffRow[], index: number): readonly DiffRow[] =>
    rows.slice(Math.round((index * rows.length) / parts), Math.round(((index + 1) * rows.length) / parts));
  return Array.from({ length: parts }, (_, index) => [...part(cuts, index), ...part(adds, index)]).flat();
}

/** Only lines that replace each other one by one are compared by word. */
function marked(cut: readonly DiffRow[], add: readonly DiffRow[]): [readonly DiffRow[], readonly DiffRow[]] {
  if (cut.length !== add.length) return [cut, add];
  const marks = cut.map((row, index) => differingPart(row.text, add[index]?.text ?? ''));
  const side = (rows: readonly DiffRow[], of: 0 | 1): DiffRow[] =>
    rows.map((row, index) => {
      const mark = marks[index]?.[of];
      return mark === undefined ? row : { ...row, mark };
    });
  return [side(cut, 0), side(add, 1)];
}

type Part = NonNullable<DiffRow['mark']>;
const lineCharsCompared = 2_000;
/** Above this share the lines have little in common, and marking nearly everything is useless. */
const markedShareMax = 0.8;

/** The differing middle of both lines, without the words that they share at the start and the end. */
function differingPart(before: string, after: string): [Part, Part] | null {
  if (before.length > lineCharsCompared || after.length > lineCharsCompared) return null;
  const [one, other] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const partOf = (words: readonly string[]): Part => ({
    from: words.slice(0, start).join('').length,
    to: words.slice(0, words.length - end).join('').length,
  });
  const [cut, add] = [partOf(one), partOf(other)];
  const isTooMuch = cut.to - cut.from > before.length * markedShareMax && add.to - add.from > after.length * markedShareMax;
  return isTooMuch ? null : [cut, add];
}

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** Arranges rows in two columns: removals left, additions right, lines that replace each other in one row. */
export function toDiffPairs(rows: readonly DiffRow[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let [cuts, adds]: [DiffRow[], DiffRow[]] = [[], []];
  const close = (): void => {
    for (let index = 0; index < Math.max(cuts.length, adds.length); index++)
      pairs.push({ left: cuts[index] ?? null, right: adds[index] ?? null });
    [cuts, adds] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === 'cut') cuts.push(row);
    else if (row.kind === 'add') adds.push(row);
    else {
      close();
      pairs.push({ left: row, right: row });
    }
  }
  close();
  return pairs;
}
