import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { Statements } from './statements.ts';

test('prepares each text once; reading a column does not change row results', () => {
  const db = new Database(':memory:');
  let prepared = 0;
  const sql = new Statements({
    prepare: (text: string) => {
      prepared += 1;
      return db.prepare(text);
    },
  });
  db.exec('CREATE TABLE pairs (name TEXT PRIMARY KEY, value INTEGER) STRICT');
  for (const [name, value] of Object.entries({ a: 1, b: 2 })) {
    expect(sql.run('INSERT INTO pairs VALUES (?, ?)', name, value).changes).toBe(1);
  }
  const text = 'SELECT name, value FROM pairs WHERE value >= ? ORDER BY name';
  expect(sql.rows(text, 1)).toEqual([
    { name: 'a', value: 1 },
    { name: 'b', value: 2 },
  ]);
  expect(sql.values(text, 1)).toEqual(['a', 'b']);
  expect(sql.value(text, 2)).toBe('b');
  expect(sql.row(text, 2)).toEqual({ name: 'b', value: 2 });
  expect([sql.row(text, 3), sql.value(text, 3)]).toEqual([undefined, undefined]);
  expect(prepared).toBe(3);
  // Statements are prepared on first use only.
  expect(() => sql.row('SELECT n FROM later')).toThrow('no such table');
  db.exec('CREATE TABLE later (n INTEGER)');
  expect(sql.run('INSERT INTO later VALUES (?)', 3).changes).toBe(1);
  expect([sql.value('SELECT n FROM later'), sql.prepare('SELECT n FROM later').raw().all()]).toEqual([3, [[3]]]);
  db.close();
});
