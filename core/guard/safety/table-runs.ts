// Reads tables, sheets and lists with commas by column: puts the heading before each cell, because nothing else says that a cell below
// "Password" is a password. Pure.

import { gap, WrittenView, type TextView } from './text-view.ts';

const HEADER_LENGTH_MAX = 2000;
const CELL_LENGTH_MAX = 400;

/** The word and its column. */
type Column = readonly [word: string, index: number];

interface Table {
  readonly delimiter: string;
  readonly columns: readonly Column[];
  readonly start: number;
  /** The end of the line of headings. */
  readonly end: number;
}

interface TableRuns {
  readonly views: readonly TextView[];
  /** The start of a table that more text could extend, or the text's length. */
  readonly open: number;
}

/** `heads` are the places of words that may be such a heading, in order. */
export function tableRuns(text: string, heads: readonly number[]): TableRuns {
  const view = new WrittenView();
  let open = text.length;
  let seen = 0;
  for (const head of heads) {
    // No line is read twice: a heading within a table is a cell.
    if (head < seen) continue;
    const table = tableAt(text, head);
    seen = table === null ? endOfLine(text, head) : addRows(view, text, table);
    if (table !== null && seen >= text.length) open = table.start;
  }
  return { views: view.text === '' ? [] : [view], open };
}

function tableAt(text: string, head: number): Table | null {
  const start = text.lastIndexOf('\n', head) + 1;
  const end = endOfLine(text, start);
  if (end - start > HEADER_LENGTH_MAX) return null;
  const line = text.slice(start, end);
  const delimiter = line.trimStart().startsWith('|') ? '|' : ['\t', ';', ','].find((one) => line.includes(one));
  if (delimiter === undefined) return null;
  const columns = cellsOf(line, delimiter).flatMap(({ text: word }, index): Column[] => (headsSecrets(word) ? [[word, index]] : []));
  return columns.length === 0 ? null : { delimiter, columns, start, end };
}

/** A column of tokens alone may be that of a parser. */
const heading =
  /^(?:[\w-]{1,20}[ _-])?(?:pass(?:word|wd|phrase|code|wort)?|kennwort|pwd|contrase\xf1a|senha|mot de passe|secret|api[ _-]?key|(?<=.)token)s?$/i;

/** Returns whether a column of this name holds secrets. */
export function headsSecrets(name: string): boolean {
  return heading.test(name);
}

/** Returns the end of the table. */
function addRows(view: WrittenView, text: string, { delimiter, columns, end }: Table): number {
  let next = 0;
  for (let at = end + 1; at < text.length; at = next) {
    next = endOfLine(text, at) + 1;
    const line = text.slice(at, next - 1);
    if (!line.includes(delimiter)) return at;
    const cells = cellsOf(line, delimiter);
    for (const [word, index] of columns) {
      const cell = cells[index];
      if (cell === undefined || cell.text === '' || cell.text.length > CELL_LENGTH_MAX) continue;
      const from = at + cell.at;
      view.add(`\n${gap}\n${word}: `, from, from);
      for (let i = 0; i < cell.text.length; i++) view.add(cell.text.charAt(i), from + i, from + i + 1);
    }
  }
  view.add('\n', text.length, text.length);
  return text.length;
}

/** The cells without white space, quotes and marks of emphasis around them. A delimiter between quotes is part of a cell. */
function cellsOf(line: string, delimiter: string): { text: string; at: number }[] {
  const cells: { text: string; at: number }[] = [];
  const lastQuote = line.lastIndexOf(`"${delimiter}`);
  let start = 0;
  for (let at = 0; at <= line.length; at++) {
    // Never searches in vain, or a line whose quotes do not end would be searched once for each cell.
    if (line[at] === '"' && at === start && at < lastQuote) at = line.indexOf(`"${delimiter}`, at + 1);
    if (at < line.length && line[at] !== delimiter) continue;
    cells.push(trimmed(line, start, at));
    start = at + 1;
  }
  return cells;
}

const edge = /[\s"'*`]/;

function trimmed(line: string, start: number, end: number): { text: string; at: number } {
  let from = start;
  let to = end;
  while (from < to && edge.test(line.charAt(from))) from++;
  while (to > from && edge.test(line.charAt(to - 1))) to--;
  return { text: line.slice(from, to), at: from };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}
