// Reads rows whose columns another statement names: `CREATE TABLE t (… password …)` before `INSERT INTO t VALUES (…)`, and the lines behind
// `COPY t (columns) FROM stdin`. Puts the name of the column before each value. Pure.

import { addValues, type SqlRuns } from './sql-runs.ts';
import { headsSecrets } from './table-runs.ts';
import { gap, WrittenView } from './text-view.ts';

const name = '[\\w.$"`[\\]]{1,130}';
const create = new RegExp(
  String.raw`\bcreate\s{1,5}(?:temp(?:orary)?\s{1,5})?table\s{1,5}(?:if\s{1,5}not\s{1,5}exists\s{1,5})?(${name})\s{0,5}\(`,
  'gi',
);
const insert = new RegExp(String.raw`\binto\s{1,5}(${name})\s{1,20}values\s{0,20}(?=\()`, 'gi');
const copy = new RegExp(
  String.raw`\bcopy\s{1,5}${name}\s{0,5}\(([^();]{1,2000})\)\s{1,5}from\s{1,5}stdin[^\n;]{0,80};?[ \t]{0,5}\r?\n`,
  'gi',
);
/** The longest definition of a table, and the longest text between it, or some rows, and the next rows. */
const NEAR = 4_000;
const CELL_LENGTH_MAX = 400;
/** They begin a part of a definition that is not a column. */
const noColumn = /^(?:primary|foreign|unique|constraint|check|key|index|fulltext|spatial|exclude|period|like)$/i;

export function definedTables(text: string, heads: readonly number[]): SqlRuns {
  if (heads.length === 0) return { views: [], open: text.length };
  const [rows, lines] = [new WrittenView(), new WrittenView()];
  const open = Math.min(addDefined(rows, text), addCopied(lines, text));
  return { views: [rows, lines].filter((view) => view.text !== ''), open };
}

/** Returns where a definition begins that more text could give rows. */
function addDefined(view: WrittenView, text: string): number {
  let seen = 0;
  let open = text.length;
  for (const found of text.matchAll(create)) {
    if (found.index < seen) continue;
    const table = readTable(text, found.index + found[0].length);
    const columns = table?.columns ?? [];
    if (table !== null && columns.every((column) => column === null)) continue;
    seen = table === null ? text.length : addRows(view, text, table.end, { table: lastPart(found[1] ?? ''), columns });
    if (seen + NEAR > text.length) open = Math.min(open, found.index);
    // Without an end, it is not a definition. Other definitions may stand between this one and its rows.
    seen = table?.end ?? found.index;
  }
  return open;
}

interface Columns {
  readonly table: string;
  /** Null for a column without secrets. */
  readonly columns: readonly (string | null)[];
}

/** Returns the end of the last rows of the table that follow near. */
function addRows(view: WrittenView, text: string, from: number, { table, columns }: Columns): number {
  let end = from;
  const near = (): RegExpExecArray | undefined =>
    [...text.slice(end, end + NEAR).matchAll(insert)].find(([, into = '']) => lastPart(into) === table);
  for (let found = near(); found !== undefined; found = near()) end = addValues(view, text, end + found.index + found[0].length, columns);
  return end;
}

/** Reads the parts of a definition between its brackets. Null if it does not end near. */
function readTable(text: string, from: number): { readonly columns: readonly (string | null)[]; readonly end: number } | null {
  const columns: (string | null)[] = [];
  let depth = 0;
  let begin = from;
  for (let at = from; at < Math.min(text.length, from + NEAR); at++) {
    const character = text.charAt(at);
    if (character === "'") at = Math.max(at, text.indexOf("'", at + 1));
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (depth >= 0 && (depth > 0 || character !== ',')) continue;
    const [, quoted, bare = ''] = /^\s{0,40}(?:["`[]([^"`\]]{1,100})["`\]]|([\w$]{1,100}))/.exec(text.slice(begin, at)) ?? [];
    const column = quoted ?? bare;
    if (quoted !== undefined || !noColumn.test(bare)) columns.push(headsSecrets(column) ? column : null);
    if (depth < 0) return { columns, end: at + 1 };
    begin = at + 1;
  }
  return null;
}

const lastPart = (table: string): string =>
  table
    .replace(/["`[\]]/g, '')
    .replace(/^.*\./, '')
    .toLowerCase();

/** Returns where a copy begins whose lines the text does not end. */
function addCopied(view: WrittenView, text: string): number {
  let seen = 0;
  for (const found of text.matchAll(copy)) {
    if (found.index < seen) continue;
    const columns = (found[1] ?? '').split(',').map((column) => column.trim().replace(/^"|"$/g, ''));
    seen = addLines(view, text, found.index + found[0].length, columns);
    if (seen >= text.length) return found.index;
  }
  return text.length;
}

/** Returns the end of the lines. */
function addLines(view: WrittenView, text: string, from: number, columns: readonly string[]): number {
  for (let at = from, next = from; at < text.length; at = next) {
    const end = text.indexOf('\n', at);
    next = end < 0 ? text.length : end + 1;
    const line = text.slice(at, end < 0 ? text.length : end);
    if (line.startsWith('\\.') || (columns.length > 1 && !line.includes('\t'))) return at;
    let place = at;
    for (const [index, cell] of line.split('\t').entries()) {
      const column = columns[index] ?? '';
      if (headsSecrets(column) && cell !== '\\N' && cell.length <= CELL_LENGTH_MAX) {
        view.add(`\n${gap}\n${column}: `, place, place);
        for (let i = 0; i < cell.length; i++) view.add(cell.charAt(i), place + i, place + i + 1);
      }
      place += cell.length + 1;
    }
  }
  view.add('\n', text.length, text.length);
  return text.length;
}
