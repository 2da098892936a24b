// Cuts documents into passages with their places. A passage is a run of whole lines, quoted word for word, so that a person can check it at
// its place. Pure.

import { hash } from 'node:crypto';
import type { PassageDraft } from './knowledge-rows.ts';

export type TextForm = 'markdown' | 'text' | 'code';

/** The target size. A paragraph is not split to reach it. */
const CHARS_AIMED = 900;
const CHARS_MAX = 1_800;
const PASSAGES_MAX = 5_000;
const HEADING_CHARS = 200;

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Lines are numbered from 1. A line longer than a passage is cut into several passages of that line. */
export function cutIntoPassages(text: string, form: TextForm): PassageDraft[] {
  const lines = text.split(/\r\n|\n|\r/).map((line, index) => ({ number: index + 1, text: line }));
  const passages: PassageDraft[] = [];
  for (const { heading, run } of form === 'markdown' ? sectionsOf(lines) : [{ heading: '', run: lines }]) {
    for (const part of packRuns(form === 'code' ? codeBlocks(run) : paragraphs(run))) {
      passages.push(...draftsOf(lines, part, heading));
      if (passages.length >= PASSAGES_MAX) return passages.slice(0, PASSAGES_MAX);
    }
  }
  return passages;
}

/** For PDFs: the place of a passage is its page number, because a page has no lines that a person could find. */
export function cutPages(pages: readonly string[]): PassageDraft[] {
  return pages
    .flatMap((text, index) =>
      cutIntoPassages(text, 'text').map((passage) => ({ ...passage, startLine: null, endLine: null, page: index + 1 })),
    )
    .slice(0, PASSAGES_MAX);
}

/** For text that was converted from another form: its lines are not the lines of the file. */
export function withoutLines(passages: readonly PassageDraft[]): PassageDraft[] {
  return passages.map((passage) => ({ ...passage, startLine: null, endLine: null }));
}

/** Splits markdown at its headings. A line inside a fence is not a heading. */
function sectionsOf(lines: readonly Line[]): { heading: string; run: Line[] }[] {
  const sections: { heading: string; run: Line[] }[] = [{ heading: '', run: [] }];
  const path: string[] = [];
  let fence = '';
  for (const line of lines) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line.text)?.[1] ?? '';
    if (mark !== '') fence = fence === '' ? mark : mark.startsWith(fence) ? '' : fence;
    const [, signs = '', title = ''] = fence === '' ? (/^(#{1,6})\s+(.*?)\s*#*$/.exec(line.text) ?? []) : [];
    if (signs !== '') {
      path.length = Math.min(path.length, signs.length - 1);
      path[signs.length - 1] = title;
      sections.push({ heading: path.filter(Boolean).join(' › ').slice(0, HEADING_CHARS), run: [] });
    }
    sections.at(-1)?.run.push(line);
  }
  return sections;
}

/** Runs of lines between blank lines. */
function paragraphs(lines: readonly Line[]): Line[][] {
  const runs: Line[][] = [[]];
  for (const line of lines) {
    if (line.text.trim() === '') runs.push([]);
    else runs.at(-1)?.push(line);
  }
  return runs.filter((run) => run.length > 0);
}

/** Starts a new block at each unindented line that follows an empty line, so that a function stays together. */
function codeBlocks(lines: readonly Line[]): Line[][] {
  const runs: Line[][] = [[]];
  let wasEmpty = false;
  for (const line of lines) {
    const isEmpty = line.text.trim() === '';
    if (wasEmpty && !isEmpty && /^[^\s})\]]/.test(line.text)) runs.push([]);
    runs.at(-1)?.push(line);
    wasEmpty = isEmpty;
  }
  return runs.map(trimmed).filter((run) => run.length > 0);
}

function trimmed(run: readonly Line[]): Line[] {
  const filled = run.map(({ text }) => text.trim() !== '');
  return filled.includes(true) ? run.slice(filled.indexOf(true), filled.lastIndexOf(true) + 1) : [];
}

/** Joins neighbouring runs up to the target size. A run that is too large is cut between its lines. */
function packRuns(runs: readonly Line[][]): Line[][] {
  const packed: Line[][] = [];
  let size = 0;
  for (const run of runs.flatMap(cutLong)) {
    const runSize = sizeOf(run);
    const last = packed.at(-1);
    if (last === undefined || size + runSize > CHARS_AIMED) {
      packed.push([...run]);
      size = runSize;
    } else {
      last.push(...run);
      size += runSize;
    }
  }
  return packed;
}

function cutLong(run: Line[]): Line[][] {
  if (sizeOf(run) <= CHARS_MAX) return [run];
  const parts: Line[][] = [[]];
  let size = 0;
  for (const line of run) {
    if (size > 0 && size + line.text.length > CHARS_AIMED) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(line);
    size += line.text.length + 1;
  }
  return parts;
}

function sizeOf(run: readonly Line[]): number {
  return run.reduce((sum, { text }) => sum + text.length + 1, 0);
}

/** Includes the blank lines between paragraphs, as in the document. */
function draftsOf(lines: readonly Line[], run: readonly Line[], heading: string): PassageDraft[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined) return [];
  const text = lines
    .slice(first.number - 1, last.number)
    .map((line) => line.text)
    .join('\n');
  const pieces = text.length <= CHARS_MAX * 2 ? [text] : (text.match(new RegExp(`[\\s\\S]{1,${CHARS_MAX}}`, 'gu')) ?? []);
  return pieces
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece))
    .map((piece) => ({
      startLine: first.number,
      endLine: last.number,
      page: null,
      heading,
      text: piece,
      textHash: hashOf(heading, piece),
    }));
}

function hashOf(heading: string, text: string): string {
  return hash('sha256', `passage\n${heading}\n${text}`, 'hex');
}
