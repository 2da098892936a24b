// Turns a unified diff into rows to read: numbered, removals next to the additions that replace them, unchanged runs in one row. Pure.

export interface DiffRow {
  readonly kind: 'add' | 'cut' | 'same' | 'gap';
  /** Without its sign. */
  readonly text: string;
  /** The number of the line before and after; null where it is not there, or not known. */
  readonly old: number | null;
  readonly new: number | null;
  /** Of a gap: how many unchanged lines it represents; null if unknown. */
  readonly skipped: number | null;
}

/** A long block is shown in parts: at most this many lines of one side, then the lines of the other that replace them. */
const pairedLines = 6;
const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,\d+)? @@/;

export function toDiffRows(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  const at = { old: null as number | null, new: null as number | null };
  let block: { cut: DiffRow[]; add: DiffRow[] } = { cut: [], add: [] };
  const close = (): void => {
    rows.push(...paired(block.cut, block.add));
    block = { cut: [], add: [] };
  };
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const sign = line[0];
    if (sign === '-') {
      // A removal after additions begins another block.
      if (block.add.length > 0) close();
      block.cut.push({ kind: 'cut', text: line.slice(1), old: at.old, new: null, skipped: null });
      at.old = next(at.old);
    } else if (sign === '+') {
      block.add.push({ kind: 'add', text: line.slice(1), old: null, new: at.new, skipped: null });
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

function sameRow(line: string, at: { old: number | null; new: number | null }): DiffRow {
  // "\ No newline at end of file" is a remark, not a line.
  if (line.startsWith('\\')) return { kind: 'same', text: line, old: null, new: null, skipped: null };
  const row: DiffRow = { kind: 'same', text: line.slice(1), old: at.old, new: at.new, skipped: null };
  at.old = next(at.old);
  at.new = next(at.new);
  return row;
}

/** The head of a hunk gives its position; the lines before it are unchanged. */
function gapBefore(line: string, at: { old: number | null; new: number | null }): DiffRow[] {
  const gap = { kind: 'gap', text: '', old: null, new: null } as const;
  const found = hunkHead.exec(line);
  if (found === null) return [{ ...gap, skipped: null }];
  // A side without lines is named by the line before it.
  const start = Number(found[1]) + (found[2] === '0' ? 1 : 0);
  const skipped = start - (at.old ?? 1);
  at.old = start;
  at.new = Math.max(1, Number(found[3]));
  return skipped > 0 ? [{ ...gap, skipped }] : [];
}

function paired(cut: readonly DiffRow[], add: readonly DiffRow[]): DiffRow[] {
  const parts = Math.max(1, Math.ceil(Math.max(cut.length, add.length) / pairedLines));
  if (cut.length === 0 || add.length === 0 || parts === 1) return [...cut, ...add];
  const part = (rows: readonly DiffRow[], index: number): readonly DiffRow[] =>
    rows.slice(Math.round((index * rows.length) / parts), Math.round(((index + 1) * rows.length) / parts));
  return Array.from({ length: parts }, (_, index) => [...part(cut, index), ...part(add, index)]).flat();
}
