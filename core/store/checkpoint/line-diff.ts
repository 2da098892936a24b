// The difference of two texts by lines, in unified format. Bounded in time and size. Pure.

import { diffOfLines, type DiffLine } from '../../base/diff-lines.ts';

export interface LineDiff {
  /** Unified hunks without file names; empty if the texts are the same. */
  readonly text: string;
  readonly addedLines: number;
  readonly removedLines: number;
  /** True if `text` was truncated. */
  readonly isCut: boolean;
}

const CONTEXT_LINES = 3;
const TEXT_CHARS_MAX = 100_000;
const LINE_CHARS_MAX = 2_000;

const signs = { same: ' ', added: '+', removed: '-' } as const;

/** One run of changes with its context: the lines on both sides, and the number of new lines before them. */
export interface LineHunk {
  readonly newFrom: number;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

/** Returns the hunks of `diffLines` without truncation, in the same order. */
export function lineHunks(before: string, after: string): LineHunk[] {
  const edits = diffOfLines(splitLines(before), splitLines(after));
  const side = (range: { from: number; to: number }, without: DiffLine['kind']): string[] =>
    edits
      .slice(range.from, range.to)
      .filter(({ kind }) => kind !== without)
      .map(({ text }) => text);
  return hunkRanges(edits).map((range) => ({
    newFrom: side({ from: 0, to: range.from }, 'removed').length,
    oldLines: side(range, 'added'),
    newLines: side(range, 'removed'),
  }));
}

export function diffLines(before: string, after: string): LineDiff {
  const edits = diffOfLines(splitLines(before), splitLines(after));
  const addedLines = edits.filter(({ kind }) => kind === 'added').length;
  const removedLines = edits.filter(({ kind }) => kind === 'removed').length;
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

function formatHunks(edits: readonly DiffLine[]): string {
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
    const oldCount = hunk.filter(({ kind }) => kind !== 'added').length;
    const newCount = hunk.filter(({ kind }) => kind !== 'removed').length;
    parts.push(`@@ -${place(oldLine, oldCount)} +${place(newLine, newCount)} @@\n`);
    for (const { kind, text } of hunk) parts.push(`${signs[kind]}${shorten(text)}\n`);
    oldLine += oldCount;
    newLine += newCount;
    index = to;
  }
  return parts.join('');
}

/** Returns runs of changes with context lines. Runs whose contexts touch are merged. */
function hunkRanges(edits: readonly DiffLine[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (const [index, { kind }] of edits.entries()) {
    if (kind === 'same') continue;
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
