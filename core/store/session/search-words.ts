// The words of a query and the excerpts around their matches, shared by all searches of the log.

import { lettersApart } from '../../base/unspaced-scripts.ts';
import type { SqlDatabase } from '../storage/storage.ts';

/** For a very common word, only the newest matches are ranked, so that the cost does not grow with the log. */
export const RANKED_MAX = 2_000;
const WORDS_MAX = 16;
/** A log with a position above this is large. Merging the matches of a prefix such as "co" then takes too long. */
const LARGE = 100_000;
/** A prefix of too many words, in scripts with spaces between words. */
const SHORT_PREFIX = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]{1,2}$/u;
const EXCERPT_BEFORE = 60;
const EXCERPT_AFTER = 140;

/**
 * Returns the FTS5 query: every word must match, and the last may be a prefix. In a large log, a last word that is common or has one or two
 * letters must match whole: FTS5 merges all matches of a prefix before it returns the first, which took seconds.
 */
export function toMatch(query: string, db: SqlDatabase, table: string): string {
  const words = wordsOf(query);
  const last = words.at(-1);
  if (last === undefined) return '';
  const first = words.slice(0, -1).map((word) => termOf(word));
  const whole = all([...first, termOf(last)]);
  const newest = db.prepare(`SELECT max(rowid) FROM ${table}`).pluck().get() as number | null;
  if ((newest ?? 0) > LARGE && (SHORT_PREFIX.test(last) || isCommon(whole, db, table))) return whole;
  return all([...first, termOf(last, '*')]);
}

/** Quoted, so that nothing in a query is FTS5 syntax. Entries of an earlier index hold a run of letters without spaces as one word. */
function termOf(word: string, end: '' | '*' = ''): string {
  const apart = lettersApart(word);
  return apart === word ? `"${word}"${end}` : `("${apart}"${end} OR "${word}"${end})`;
}

/** FTS5 wants the operator next to parentheses. */
function all(terms: readonly string[]): string {
  return terms.join(terms.some((term) => term.startsWith('(')) ? ' AND ' : ' ');
}

function isCommon(match: string, db: SqlDatabase, table: string): boolean {
  const counted = db.prepare(`SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ${RANKED_MAX})`).pluck();
  return counted.get(match) === RANKED_MAX;
}

export function wordsOf(query: string): string[] {
  return (query.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).slice(0, WORDS_MAX);
}

/** Returns the text around the first match, or the beginning if accents hide the match from a plain search. */
export function excerptOf(text: string, words: readonly string[]): string {
  const folded = fold(text);
  const places = folded.length === text.length ? words.map((word) => folded.indexOf(fold(word))).filter((at) => at >= 0) : [];
  const first = places.length === 0 ? 0 : Math.min(...places);
  const from = Math.max(0, first - EXCERPT_BEFORE);
  const cut = text
    .slice(from, first + EXCERPT_AFTER)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return `${from > 0 ? '… ' : ''}${cut}${first + EXCERPT_AFTER < text.length ? ' …' : ''}`;
}

function fold(text: string): string {
  return text.toLowerCase();
}
