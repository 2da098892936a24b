// The FTS5 query of a search. The last word is a prefix, except in a large log if merging the matches of the prefix would take too long.

import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lettersApart } from '../../base/unspaced-scripts.ts';
import { toMatch } from './search-words.ts';

let db: Database.Database;
beforeEach(() => {
  db = new Database(':memory:');
  db.exec("CREATE VIRTUAL TABLE texts USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2')");
});
afterEach(() => db.close());

function fill(firstRow: number): void {
  const insert = db.prepare('INSERT INTO texts (rowid, body) VALUES (?, ?)');
  db.transaction(() => {
    for (let row = 0; row < 2_000; row++) insert.run(firstRow + row, 'common words');
    for (const [at, body] of ['commonplace things', 'go on', 'Котёнок 会議室で'].entries()) insert.run(firstRow + 2_000 + at, body);
  })();
}
const asked = (query: string): string => toMatch(query, db, 'texts');
const found = (query: string): unknown => db.prepare('SELECT count(*) FROM texts WHERE texts MATCH ?').pluck().get(asked(query));

test('in a small log the last word is always a prefix', () => {
  expect([asked(''), asked('"'), asked('c')]).toEqual(['', '', '"c"*']);
  fill(1);
  expect([asked('common'), asked('co'), asked('words common')]).toEqual(['"common"*', '"co"*', '"words" "common"*']);
  expect([found('common'), found('g'), found('common th')]).toEqual([2_001, 1, 0]);
});

test('in a large log a short or common last word must match whole', () => {
  fill(100_000);
  expect([asked('co'), asked('со'), asked('7')]).toEqual(['"co"', '"со"', '"7"']);
  expect([asked('common'), asked('words common')]).toEqual(['"common"', '"words" "common"']);
  expect([asked('commonp'), asked('com'), asked('common thi')]).toEqual(['"commonp"*', '"com"*', '"common" "thi"*']);
  expect([found('common'), found('commonp'), found('go'), found('кот')]).toEqual([2_000, 1, 1, 1]);
});

test('scripts without spaces always use prefixes, however short', () => {
  fill(100_000);
  expect([asked('会'), found('会')]).toEqual(['"会"*', 1]);
});

test('letters of scripts without spaces are found wherever they are, and as the beginning of a word in an earlier index', () => {
  const insert = db.prepare('INSERT INTO texts (rowid, body) VALUES (?, ?)');
  for (const [at, body] of ['東京都港区の天気', 'サーバーを再起動', '港の区'].entries()) insert.run(at + 1, lettersApart(body));
  insert.run(4, '港区役所に行く');
  expect(asked('東京 tower')).toBe('("東 京" OR "東京") AND "tower"*');
  expect([found('港区'), found('再起動'), found('東京 天気'), found('港区役所'), found('天港')]).toEqual([2, 1, 1, 1, 0]);
});
