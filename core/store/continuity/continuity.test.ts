import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { AnyEvent } from '../../contracts/events.ts';
import { ContinuityRows, continuityMigrations } from './continuity.ts';

function open(): { readonly db: Database.Database; readonly rows: ContinuityRows; readonly texts: () => string[] } {
  const db = new Database(':memory:');
  onTestFinished(() => void db.close());
  for (const migration of continuityMigrations) migration.up(db);
  const rows = new ContinuityRows(db);
  return { db, rows, texts: () => rows.rulesFor('s1', 'main').map(({ text }) => text) };
}

let seq = 0;

function event(type: string, body: object): AnyEvent {
  seq += 1;
  return { seq, sessionId: 's1', sessionSeq: seq, turnId: null, atMs: seq, type, body } as unknown as AnyEvent;
}

const pin = (ruleId: string, text: string): AnyEvent => event('rule.pinned', { ruleId, text, scope: 'session', by: 'ada' });

function rolledBack(db: Database.Database, work: () => void): void {
  const fail = db.transaction(() => {
    work();
    throw new Error('roll back');
  });
  expect(fail).toThrow('roll back');
}

test('a rule that was pinned in a transaction which is rolled back does not hold', () => {
  const { db, rows, texts } = open();
  rows.apply(pin('r1', 'answer in French'));
  rolledBack(db, () => {
    rows.apply(pin('r2', 'never answer'));
    expect(texts()).toEqual(['answer in French', 'never answer']);
  });
  expect(texts()).toEqual(['answer in French']);
});

test('a rule that was unpinned in a transaction which is rolled back still holds', () => {
  const { db, rows, texts } = open();
  rows.apply(pin('r1', 'answer in French'));
  expect(texts()).toEqual(['answer in French']);
  rolledBack(db, () => {
    rows.apply(event('rule.unpinned', { ruleId: 'r1' }));
    expect(texts()).toEqual([]);
  });
  expect(texts()).toEqual(['answer in French']);
});

test('the same array is returned while nothing changes', () => {
  const { rows } = open();
  rows.apply(pin('r1', 'answer in French'));
  const first = rows.rulesFor('s1', 'main');
  expect(rows.rulesFor('s1', 'main')).toBe(first);
});
