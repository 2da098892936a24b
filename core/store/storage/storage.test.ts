import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { isAppError } from '../../contracts/errors.ts';
import { Storage, type Migration } from './storage.ts';

const table: Migration = { id: '1', minSafeVersion: 1, up: (db) => db.exec('CREATE TABLE IF NOT EXISTS t (n INTEGER, text TEXT)') };

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-storage-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function open(home = newHome(), migrations: readonly Migration[] = [table]): Storage {
  const storage = Storage.open({ home, migrations });
  onTestFinished(() => storage.dispose());
  return storage;
}

const put = ({ db }: Storage, n: number): unknown => db.prepare('INSERT INTO t (n) VALUES (?)').run(n);
const all = ({ db }: Storage): unknown[] => db.prepare('SELECT n FROM t ORDER BY n').pluck().all();

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (cause) {
    return isAppError(cause) ? cause.code : String(cause);
  }
  return 'nothing thrown';
}

test('nested work joins the outer transaction and is rolled back with it', () => {
  const storage = open();
  expect(storage.transact(() => storage.transact(() => put(storage, 1) !== null))).toBe(true);
  expect(storage.inTransaction).toBe(false);
  expect(() =>
    storage.transact(() => {
      storage.transact(() => put(storage, 2));
      throw new Error('after the inner one');
    }),
  ).toThrow('after the inner one');
  expect(all(storage)).toEqual([1]);
});

test('a caller that catches an error does not commit a failed inner transaction', () => {
  const storage = open();
  const swallow = (): void => {
    try {
      storage.transact(() => {
        put(storage, 1);
        throw new Error('half done');
      });
    } catch {
      put(storage, 2);
    }
  };
  expect(codeOf(() => storage.transact(swallow))).toBe('internal');
  expect(all(storage)).toEqual([]);
  storage.transact(() => put(storage, 3));
  expect(all(storage)).toEqual([3]);
});

test('a barrier waits for the disk and is metered; only a barrier may contain one', () => {
  const storage = open();
  storage.transact(() => {
    expect(storage.inBarrier).toBe(false);
    put(storage, 1);
  });
  expect(storage.syncMeter.count).toBe(0);
  storage.transact(() => {
    expect([storage.inBarrier, storage.db.pragma('synchronous', { simple: true })]).toEqual([true, 2]);
    storage.transact(() => put(storage, 2), true);
  }, true);
  expect(storage.syncMeter.count).toBe(1);
  expect(storage.syncMeter.totalMs).toBeGreaterThan(0);
  expect(codeOf(() => storage.transact(() => storage.transact(() => put(storage, 3), true)))).toBe('internal');
  expect(all(storage)).toEqual([1, 2]);
});

test('callbacks run after the commit, in order, and not after a rollback', () => {
  const storage = open();
  const seen: string[] = [];
  storage.afterCommit(() => seen.push('at once'));
  storage.transact(() => {
    storage.afterCommit(() => seen.push(`first ${String(storage.inTransaction)}`));
    storage.transact(() => storage.afterCommit(() => seen.push('second')));
    seen.push('work');
  });
  const failing = (): void => {
    storage.afterCommit(() => seen.push('never'));
    throw new Error('no');
  };
  expect(() => storage.transact(failing)).toThrow('no');
  storage.transact(() => put(storage, 1));
  expect(seen).toEqual(['at once', 'work', 'first false', 'second']);
});

test('one process owns a folder until it ends, however it ends', async () => {
  const home = newHome();
  const source = `
    const { Storage } = await import(${JSON.stringify(join(import.meta.dirname, 'storage.ts'))});
    const storage = Storage.open({ home: ${JSON.stringify(home)}, migrations: [] });
    process.stdout.write('open');
    // Keeps a reference, so that the garbage collector does not close the storage.
    setInterval(() => storage.inTransaction, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(codeOf(() => Storage.open({ home, migrations: [table] }))).toBe('store_locked');
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
  expect(open(home).inTransaction).toBe(false);
});

test('a refused second start in one process leaves the lock to the first', () => {
  const home = newHome();
  open(home);
  expect(codeOf(() => Storage.open({ home, migrations: [table] }))).toBe('store_locked');
  const source = `
    const { Storage } = await import(${JSON.stringify(join(import.meta.dirname, 'storage.ts'))});
    try {
      Storage.open({ home: ${JSON.stringify(home)}, migrations: [] });
      process.stdout.write('opened');
    } catch (cause) {
      process.stdout.write(cause.code);
    }`;
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', source], { encoding: 'utf8' })).toBe('store_locked');
});

test('the lock holds within one process and is freed by close; reads need no lock', () => {
  const home = newHome();
  const first = Storage.open({ home, migrations: [table] });
  expect(codeOf(() => Storage.open({ home, migrations: [table] }))).toBe('store_locked');
  const look = Storage.open({ home, migrations: [table], lock: false });
  look.dispose();
  first.dispose();
  first.dispose();
  open(home);
});

test('refuses a folder of a newer program and leaves it unchanged', () => {
  const home = newHome();
  const newer: Migration = { id: '9-newer', minSafeVersion: 99, up: (db) => db.exec('CREATE TABLE newer (n)') };
  Storage.open({ home, migrations: [table, newer] }).dispose();
  const before = readFileSync(join(home, 'trayclaw.db'));
  const another: Migration = { id: '2', minSafeVersion: 1, up: (db) => db.exec('CREATE TABLE u (n)') };
  expect(codeOf(() => Storage.open({ home, migrations: [table, another] }))).toBe('store_too_new');
  expect(readFileSync(join(home, 'trayclaw.db')).equals(before)).toBe(true);
  // The lock is free again.
  expect(codeOf(() => Storage.open({ home, migrations: [table] }))).toBe('store_too_new');
});

test('accepts a newer migration that older programs can use', () => {
  const home = newHome();
  const harmless: Migration = { id: '9-newer', minSafeVersion: 1, up: (db) => db.exec('CREATE TABLE newer (n)') };
  Storage.open({ home, migrations: [table, harmless] }).dispose();
  expect(open(home).integrity(true)).toEqual(['ok']);
});

test('a failed migration is rolled back, and the next start resumes there', () => {
  const home = newHome();
  let isBroken = true;
  const second: Migration = {
    id: '2',
    minSafeVersion: 1,
    up: (db) => {
      db.exec('CREATE TABLE half (n)');
      if (isBroken) throw new Error('the program ended here');
      db.exec('CREATE TABLE whole (n)');
    },
  };
  expect(codeOf(() => Storage.open({ home, migrations: [table, second] }))).toBe('internal');
  isBroken = false;
  const { db } = open(home, [table, second]);
  expect(db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").pluck().all()).toEqual([
    'half',
    'migrations',
    't',
    'whole',
  ]);
});

test('distinguishes a wrong file, a folder in its place and an impossible path', () => {
  const text = newHome();
  writeFileSync(join(text, 'trayclaw.db'), 'this is a letter, not a database; '.repeat(100));
  expect(codeOf(() => Storage.open({ home: text, migrations: [table] }))).toBe('store_corrupt');

  const folder = newHome();
  mkdirSync(join(folder, 'trayclaw.db'));
  expect(codeOf(() => Storage.open({ home: folder, migrations: [table] }))).toBe('store_readonly');

  const file = join(newHome(), 'file');
  writeFileSync(file, '');
  expect(codeOf(() => Storage.open({ home: join(file, 'home'), migrations: [table] }))).toBe('store_readonly');

  const deep = join(newHome(), 'd'.repeat(250), 'e'.repeat(250));
  expect(() => Storage.open({ home: deep, migrations: [table] })).toThrow(
    /cannot be used: its path has \d+ bytes, and 440 are the most\.$/,
  );

  const link = join(newHome(), 'link');
  symlinkSync('/nowhere/at/all', link);
  expect(() => Storage.open({ home: link, migrations: [table] })).toThrow(
    `The data folder ${link} cannot be used: it is a link to /nowhere/at/all, where there is nothing.`,
  );
});

test('the integrity check and reads report a damaged page', () => {
  const home = newHome();
  const whole = Storage.open({ home, migrations: [table] });
  const insert = whole.db.prepare('INSERT INTO t (n, text) VALUES (?, ?)');
  whole.transact(() => {
    for (let n = 0; n < 500; n++) insert.run(n, 'x'.repeat(200));
  });
  whole.dispose();
  const path = join(home, 'trayclaw.db');
  const bytes = readFileSync(path);
  bytes.fill(0xff, bytes.length - 20 * 4096);
  writeFileSync(path, bytes);
  const damaged = open(home);
  expect(damaged.integrity(false)).not.toEqual(['ok']);
  expect(codeOf(() => damaged.transact(() => damaged.db.prepare('SELECT sum(length(text)) FROM t').get()))).toBe('store_corrupt');
});

test('a full disk refuses writes, keeps its data, and accepts writes when freed', () => {
  const storage = open();
  storage.transact(() => put(storage, 1));
  const pages = storage.db.pragma('page_count', { simple: true }) as number;
  storage.db.pragma(`max_page_count = ${pages + 2}`);
  const fill = (): void => {
    for (let n = 0; n < 100; n++) storage.db.prepare('INSERT INTO t (n, text) VALUES (?, ?)').run(n, 'x'.repeat(1000));
  };
  expect(codeOf(() => storage.transact(fill, true))).toBe('store_full');
  expect([all(storage), storage.inTransaction]).toEqual([[1], false]);
  storage.db.pragma(`max_page_count = ${pages + 1000}`);
  storage.transact(fill);
  expect(all(storage)).toHaveLength(101);
});

test('reports a read-only database', () => {
  const storage = open();
  storage.db.pragma('query_only = ON');
  expect(codeOf(() => storage.transact(() => put(storage, 1)))).toBe('store_readonly');
  storage.db.pragma('query_only = OFF');
});

test('the data folder is private, and a checkpoint moves commits into the file', () => {
  const home = join(newHome(), 'deep', 'home');
  const storage = open(home);
  expect(process.platform === 'win32' ? 0o700 : statSync(home).mode & 0o777).toBe(0o700);
  storage.transact(() => put(storage, 7));
  storage.checkpoint();
  const copy = join(home, 'copy.db');
  writeFileSync(copy, readFileSync(join(home, 'trayclaw.db')));
  const db = new Database(copy);
  expect(db.prepare('SELECT n FROM t').pluck().all()).toEqual([7]);
  db.close();
});

test('a throwaway folder does not wait for the disk and can be opened again', () => {
  const home = newHome();
  const storage = Storage.open({ home, migrations: [table], isThrowaway: true });
  storage.transact(() => put(storage, 1), true);
  void storage.transactAhead(() => put(storage, 2));
  expect(storage.db.pragma('synchronous', { simple: true })).toBe(0);
  storage.dispose();
  expect(all(open(home))).toEqual([1, 2]);
});
