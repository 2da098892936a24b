import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { WordIndex, wordIndexForm } from './word-index.ts';

function openIndex(texts: readonly string[]): WordIndex {
  const db = new Database(':memory:');
  db.exec(`CREATE VIRTUAL TABLE texts USING fts5(title, body, ${wordIndexForm})`);
  const index = new WordIndex(db, 'texts');
  for (const [at, text] of texts.entries()) index.put(at + 1, '', text);
  return index;
}

test('coverage is the share of query words in a row, weighted by their rarity', () => {
  const common = Array.from({ length: 40 }, (_, at) => `report number ${at} of the week`);
  const index = openIndex([...common, 'report on glaciers']);
  const row = common.length + 1;
  expect(index.coverage('report glaciers', row)).toBe(1);
  // Another form of the same words.
  expect(index.coverage('Reporting on a glacier', row)).toBe(1);
  // A rare word weighs more than a common one.
  expect(index.coverage('glaciers week', row)).toBeGreaterThan(index.coverage('report volcanoes', row));
  expect(index.coverage('report volcanoes', row)).toBeLessThan(0.2);
  expect(index.coverage('volcanoes', row)).toBe(0);
  expect(index.coverage('the of and', row)).toBe(0);
  expect(index.coverage('glaciers', row + 1)).toBe(0);
  expect(index.coverage('" OR body:*', row)).toBe(0);
});

test('a question in a script without spaces finds the texts that share pairs of its letters', () => {
  const index = openIndex(['東京都港区の会議室は三階です', '大阪の天気は晴れです', 'the meeting room']);
  expect(index.find('港区の会議室はどこですか', 3).map(({ row }) => row)).toEqual([1, 2]);
  expect(index.find('会議', 3).map(({ row }) => row)).toEqual([1]);
  expect(index.find('議会', 3)).toEqual([]);
  expect(index.coverage('会議室', 1)).toBe(1);
});
