// Ranked full-text search over an FTS5 table. Its cost is bounded, however common the words are. Does not know what is indexed.

import type Database from 'better-sqlite3';
import { lettersApart, searchedParts } from '../../base/unspaced-scripts.ts';
import { HeldRows } from './held-rows.ts';
import { Statements } from './statements.ts';

/** The options of every word index: stems of English words, accents folded, and the text itself is not stored. */
export const wordIndexForm = "content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'";

const WORDS_MAX = 24;
/** The maximum number of scored rows. Rarer words are searched first. */
const SCORED_MAX = 2_000;
/** Words this common say little compared with rarer words. */
const COUNTED_MAX = 1_500;

/** A word in the title counts as much as so many in the body. */
const TITLE_WEIGHT = 2;

/** Words too common to be useful, in the languages of the window. */
const emptyWords = new Set(
  (
    'a an and are as at be been but by can did do does for from had has have how i if in into is it its me my no not of on or our shall should so ' +
    'that the their them then there these they this to was we were what when where which who whom why will with would you your ' +
    'aber als am an auch auf aus bei bin bis da das dass dem den der des die du ein eine einem einen einer es für hat ich ihr im in ist ja kann ' +
    'mein mich mir mit nach nicht noch nur oder sich sie sind so um und uns von vor war was wenn wer wie wir wird wo zu zum zur'
  ).split(' '),
);

export interface RankedRow {
  readonly row: number;
  /** BM25; higher is better. */
  readonly score: number;
}

export class WordIndex {
  readonly #sql: Statements;
  readonly #table: string;
  readonly #findSql: string;
  /** While the index is empty, lookups skip the database. */
  readonly #held: HeldRows;

  /** `table` must have the columns `title` and `body`, in this order. */
  constructor(db: Database.Database, table: string) {
    this.#sql = new Statements(db);
    this.#table = table;
    this.#findSql = `SELECT row, score FROM (
         SELECT rowid AS row, -bm25(${table}, ${TITLE_WEIGHT}, 1) AS score FROM ${table} WHERE ${table} MATCH ?
         ORDER BY rowid DESC LIMIT ${SCORED_MAX})
       ORDER BY score DESC, row DESC LIMIT ?`;
    this.#held = new HeldRows(db, table);
  }

  put(row: number, title: string, body: string): void {
    this.#sql.run(
      `INSERT OR REPLACE INTO ${this.#table} (rowid, title, body) VALUES (?, ?, ?)`,
      row,
      lettersApart(title),
      lettersApart(body),
    );
    this.#held.put();
  }

  remove(row: number): void {
    this.#sql.run(`DELETE FROM ${this.#table} WHERE rowid = ?`, row);
  }

  /** Best match first. Nothing in a query is FTS5 syntax. A query that contains only common words finds nothing. */
  find(query: string, limit: number): RankedRow[] {
    if (!this.#held.any) return [];
    const counted = searchedWords(query)
      .map((word) => ({ word, count: this.#count(word) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => a.count - b.count);
    const [rarest, ...others] = counted;
    if (rarest === undefined) return [];
    if (rarest.count >= COUNTED_MAX) return this.#findCommon(counted, limit);
    const taken = [rarest.word];
    let rows = rarest.count;
    for (const { word, count } of others) {
      rows += count;
      if (rows > SCORED_MAX || count >= COUNTED_MAX) break;
      taken.push(word);
    }
    return this.#sql.rows<RankedRow>(this.#findSql, taken.join(' OR '), limit);
  }

  /** Returns the share, 0 to 1, of the query's information that the row contains. Rare words weigh more (inverse document frequency). */
  coverage(query: string, row: number): number {
    const rows = (this.#sql.value<number | null>(`SELECT max(rowid) FROM ${this.#table}`) ?? 0) + 1;
    let total = 0;
    let found = 0;
    for (const word of searchedWords(query)) {
      const weight = Math.log(1 + rows / (this.#count(word) + 0.5));
      total += weight;
      if (this.#holds(word, row)) found += weight;
    }
    return total === 0 ? 0 : found / total;
  }

  #count(word: string): number {
    const table = this.#table;
    return this.#sql.value<number>(`SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT ${COUNTED_MAX})`, word) ?? 0;
  }

  #holds(word: string, row: number): boolean {
    const table = this.#table;
    // Bound as an integer: if compared with a float, FTS5 returns the next existing row.
    return this.#sql.value(`SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid = ?`, word, BigInt(row)) !== undefined;
  }

  /** For common words only: finds rows that contain several of them, otherwise the newest rows with any. */
  #findCommon(counted: readonly { readonly word: string }[], limit: number): RankedRow[] {
    const words = counted.map(({ word }) => word);
    for (let wanted = Math.min(words.length, 4); wanted >= 1; wanted--) {
      const rows = this.#sql.rows<RankedRow>(this.#findSql, words.slice(0, wanted).join(' AND '), limit);
      if (rows.length > 0) return rows;
    }
    return [];
  }
}

/** The words of a text in lower case; of a script without spaces, each pair of letters that follow one another, with a space between. */
export function wordsIn(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap(searchedParts);
}

/** Returns the distinct words as quoted strings. */
export function searchedWords(query: string): string[] {
  const words = wordsIn(query).filter((word) => !emptyWords.has(word));
  return [...new Set(words)].slice(0, WORDS_MAX).map((word) => `"${word}"`);
}
