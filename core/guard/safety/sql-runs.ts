// Reads `INSERT INTO … (columns) VALUES (…)` by column: puts the name of the column before each value, because nothing else says that a value
// in the place of `password` is a password. Pure.

import { headsSecrets } from './table-runs.ts';
import { gap, WrittenView, type TextView } from './text-view.ts';

/** The columns before the one that was found with the words before them, and the longest value. */
const BEFORE_MAX = 600;
const begin = /\binto\s{1,5}[\w.$"`[\]]{1,130}\s{0,5}\($/i;
/** A table that is named for secrets, whose values are given without the names of columns. */
const into = /\binto\s{1,5}[\w$."`[\]]{0,80}$/i;
const keeper = /(?:passwords?|passwds?|secrets?|credentials?)["`\]]?\s{1,20}values\s{0,20}(?=\()/iy;
const COLUMNS_MAX = 60;
const columnsEnd = /[^();]{0,2000}\)\s{0,20}values\s{0,20}(?=\()/iy;
/** A text in quotes, whose quotes are doubled or escaped, or anything up to the next comma. */
const value =
  /\s{0,20}(?:[NE]?'((?:[^'\\]|\\.|''){0,400})'|"((?:[^"\\]|\\.|""){0,400})"|[^'"(),;]{0,400}(?:\([^'"();]{0,200}\))?)\s{0,20}(?=[,)])/sy;
const between = /\s{0,20},\s{0,20}(?=\()/y;

export interface SqlRuns {
  readonly views: readonly TextView[];
  /** The start of a statement that more text could extend, or the text's length. */
  readonly open: number;
}

/** `heads` are the places of words that may be such a column, in order. */
export function sqlRuns(text: string, heads: readonly number[]): SqlRuns {
  const view = new WrittenView();
  let open = text.length;
  let seen = 0;
  for (const head of heads) {
    // No statement is read twice.
    if (head < seen) continue;
    const before = text.slice(Math.max(seen, head - BEFORE_MAX), head);
    keeper.lastIndex = head;
    if (into.test(before) && keeper.test(text)) {
      seen = addValues(view, text, keeper.lastIndex, null);
      if (seen >= text.length) open = head;
      continue;
    }
    const list = before.lastIndexOf('(');
    const begun = list < 0 ? null : begin.exec(before.slice(0, list + 1));
    if (begun === null) continue;
    seen = addColumns(view, text, head - before.length + list + 1);
    // A stream keeps the words before the columns as well.
    if (seen >= text.length) open = head - before.length + begun.index;
  }
  return { views: view.text === '' ? [] : [view], open };
}

/** Returns the end of the statement, as far as it is understood. `start` is where the columns begin. */
function addColumns(view: WrittenView, text: string, start: number): number {
  columnsEnd.lastIndex = start;
  if (!columnsEnd.test(text)) return text.length - start < BEFORE_MAX ? text.length : start;
  const names = text.slice(start, text.indexOf(')', start)).split(',');
  const columns = names.map((name) => name.trim().replace(/^["`[]|["`\]]$/g, '')).map((name) => (headsSecrets(name) ? name : null));
  return addValues(view, text, columnsEnd.lastIndex, columns);
}

/** Reads the tuples from the first bracket on. Without columns, each value may be a secret. */
export function addValues(view: WrittenView, text: string, start: number, columns: readonly (string | null)[] | null): number {
  const named = columns ?? Array.from({ length: COLUMNS_MAX }, () => 'password');
  let at = start;
  for (let isMore = true; isMore;) {
    at = addTuple(view, text, at + 1, named);
    between.lastIndex = at;
    isMore = text.charAt(at - 1) === ')' && between.test(text);
    at = isMore ? between.lastIndex : at;
  }
  view.add('\n', at, at);
  const rest = text.slice(at, at + BEFORE_MAX);
  const mayGoOn = text.charAt(at - 1) === ')' ? /^\s*,?\s*$/.test(rest) : rest.length < BEFORE_MAX;
  return mayGoOn ? text.length : at;
}

/** Returns the place after the tuple, or where it is not understood. */
function addTuple(view: WrittenView, text: string, from: number, columns: readonly (string | null)[]): number {
  let at = from;
  for (const column of [...columns, null]) {
    value.lastIndex = at;
    const found = value.exec(text);
    if (found === null) return at;
    const shown = found[1] ?? found[2];
    if (column !== null && shown !== undefined) {
      const place = at + found[0].search(/['"]/) + 1;
      view.add(`\n${gap}\n${column}: `, place, place);
      for (let i = 0; i < shown.length; i++) view.add(shown.charAt(i), place + i, place + i + 1);
    }
    at = value.lastIndex + 1;
    if (text.charAt(at - 1) === ')') return at;
  }
  return at;
}
