import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import {
  createBackup,
  listBackups,
  listReplaced,
  pruneBackups,
  pruneReplaced,
  restoreBackup,
  Storage,
  verifyBackup,
  type Migration,
} from './storage.ts';

const events: Migration = {
  id: '1',
  minSafeVersion: 1,
  up: (db) => db.exec('CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, hash BLOB NOT NULL DEFAULT (zeroblob(32)))'),
};
const NOW_MS = 1_750_000_000_000;

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-backup-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

function write(home: string, count: number): void {
  const storage = Storage.open({ home, migrations: [events] });
  for (let i = 0; i < count; i++) storage.db.prepare('INSERT INTO events DEFAULT VALUES').run();
  storage.dispose();
}

async function backUp(home: string, atMs = NOW_MS): Promise<string> {
  const storage = Storage.open({ home, migrations: [events] });
  const { file, sizeBytes, createdAtMs } = await createBackup(storage.db, home, { nowMs: atMs });
  storage.dispose();
  expect([sizeBytes > 0, createdAtMs]).toEqual([true, atMs]);
  return file;
}

function countEvents(file: string): unknown {
  const db = new Database(file, { readonly: true });
  const count = db.prepare('SELECT count(*) FROM events').pluck().get();
  db.close();
  return count;
}

test('restores a backup made while in use, and keeps the replaced database', async () => {
  const home = newHome();
  write(home, 3);
  const file = await backUp(home);
  expect(verifyBackup(file)).toEqual({ ok: true, events: 3, detail: 'ok' });
  expect(readdirSync(join(home, 'backups'))).toEqual(['trayclaw-2025-06-15T15-06-40.000Z.db']);
  write(home, 2);
  const { restored, kept } = restoreBackup(home, file, NOW_MS);
  expect(restored).toBe(join(home, 'trayclaw.db'));
  expect([countEvents(restored), countEvents(kept ?? '')]).toEqual([3, 5]);
  write(home, 1);
  expect(countEvents(restored)).toBe(4);
});

test('restores into a data folder that does not exist yet, and makes it private', async () => {
  const home = newHome();
  write(home, 3);
  const fresh = join(newHome(), 'another machine', 'trayclaw');
  expect(countEvents(restoreBackup(fresh, await backUp(home), NOW_MS).restored)).toBe(3);
  if (process.platform !== 'win32') expect(statSync(fresh).mode & 0o777).toBe(0o700);
});

/** Makes the database one that a kill left: its last events are only in the write-ahead log. */
function writeAndCrash(home: string, count: number): void {
  const storage = Storage.open({ home, migrations: [events] });
  storage.checkpoint();
  for (let i = 0; i < count; i++) storage.db.prepare('INSERT INTO events DEFAULT VALUES').run();
  const left = ['trayclaw.db', 'trayclaw.db-wal'].map((name) => [join(home, name), readFileSync(join(home, name))] as const);
  storage.dispose();
  for (const [path, bytes] of left) writeFileSync(path, bytes);
}

test('keeps the last events of a crashed database that it replaces, and restores them', async () => {
  const home = newHome();
  write(home, 3);
  const file = await backUp(home);
  writeAndCrash(home, 2);
  const { kept } = restoreBackup(home, file, NOW_MS);
  expect(
    readdirSync(home)
      .filter((name) => name.startsWith('trayclaw.db'))
      .sort(),
  ).toEqual(['trayclaw.db', basename(kept ?? '')]);
  // Without companions: a copy of the one file is a copy of all its events.
  expect([countEvents(join(home, 'trayclaw.db')), verifyBackup(kept ?? '').events]).toEqual([3, 5]);
  expect(restoreBackup(home, basename(kept ?? ''), NOW_MS + 1).from).toBe(kept);
  expect(countEvents(join(home, 'trayclaw.db'))).toBe(5);
});

test('restores a file with the events in its write-ahead log, and leaves that file as it is', () => {
  const [home, other] = [newHome(), newHome()];
  writeAndCrash(other, 4);
  const file = join(other, 'trayclaw.db');
  const log = readFileSync(`${file}-wal`);
  expect(countEvents(restoreBackup(home, file, NOW_MS).restored)).toBe(4);
  expect(readFileSync(`${file}-wal`).equals(log)).toBe(true);
  write(home, 1);
  expect(countEvents(join(home, 'trayclaw.db'))).toBe(5);
});

test('keeps a damaged database as it is, with its write-ahead log', async () => {
  const home = newHome();
  write(home, 3);
  const file = await backUp(home);
  for (const damaged of ['', 'not a database '.repeat(500)]) {
    for (const [suffix, text] of [
      ['', damaged],
      ['-wal', 'log'],
    ] as const)
      writeFileSync(join(home, `trayclaw.db${suffix}`), text);
    const { kept, restored } = restoreBackup(home, file, NOW_MS);
    expect([readFileSync(kept ?? '', 'utf8'), readFileSync(`${kept}-wal`, 'utf8')]).toEqual([damaged, 'log']);
    expect(countEvents(restored)).toBe(3);
    for (const suffix of ['', '-wal']) rmSync(`${kept}${suffix}`);
  }
});

test('looks up a bare name among the backups; an empty folder has nothing to keep', async () => {
  const home = newHome();
  write(home, 2);
  const file = await backUp(home);
  const name = basename(file);
  rmSync(join(home, 'trayclaw.db'));
  expect(restoreBackup(home, name, NOW_MS)).toEqual({ from: file, restored: join(home, 'trayclaw.db'), kept: null });
  expect(() => restoreBackup(home, 'trayclaw-missing.db', NOW_MS)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
});

test('refuses to restore under a running instance', async () => {
  const home = newHome();
  write(home, 1);
  const file = await backUp(home);
  const running = Storage.open({ home, migrations: [events] });
  onTestFinished(() => running.dispose());
  expect(() => restoreBackup(home, file, NOW_MS)).toThrow(expect.objectContaining({ code: 'store_locked' }) as Error);
});

test('refuses a broken backup and leaves the database unchanged', async () => {
  const home = newHome();
  write(home, 600);
  const file = await backUp(home);
  const before = readFileSync(join(home, 'trayclaw.db'));
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 4096));
  expect(verifyBackup(file).ok).toBe(false);
  const letter = join(home, 'letter.db');
  writeFileSync(letter, 'not a database '.repeat(100));
  const stranger = join(home, 'stranger.db');
  new Database(stranger).exec('CREATE TABLE other (n)').close();
  for (const bad of [file, letter, stranger])
    expect(() => restoreBackup(home, bad, NOW_MS)).toThrow(expect.objectContaining({ code: 'store_corrupt' }) as Error);
  expect(readFileSync(join(home, 'trayclaw.db')).equals(before)).toBe(true);
  expect(existsSync(join(home, 'trayclaw.db.restoring'))).toBe(false);
});

test('keeps the newest backups and leaves other files alone', async () => {
  const home = newHome();
  write(home, 1);
  expect(listBackups(home, NOW_MS)).toEqual([]);
  const files: string[] = [];
  for (let i = 0; i < 4; i++) files.push(await backUp(home, NOW_MS + i * 1000));
  writeFileSync(join(home, 'backups', 'mine.db'), '');
  expect(listBackups(home, NOW_MS).map((backup) => backup.file)).toEqual([...files].reverse());
  const prune = (keep: number) => pruneBackups(home, keep, { origin: 'person', nowMs: Date.now() + 60_000 });
  expect(prune(3)).toEqual([files[0]]);
  // The clock was set back after the newest one.
  const nextYear = Date.now() / 1000 + 31_536_000;
  utimesSync(files[3] ?? '', nextYear, nextYear);
  expect(prune(2)).toEqual([files[3]]);
  // A copy that a kill cut off goes an hour later; one that is being made stays.
  const [cut, current] = ['a.db.part', 'b.db.part'].map((name) => join(home, 'backups', name)) as [string, string];
  for (const part of [cut, `${cut}-journal`, current]) writeFileSync(part, '');
  for (const part of [cut, `${cut}-journal`]) utimesSync(part, Date.now() / 1000 - 4_000, Date.now() / 1000 - 4_000);
  prune(2);
  expect([cut, `${cut}-journal`, current].map((part) => existsSync(part))).toEqual([false, false, true]);
  expect(readdirSync(join(home, 'backups')).sort()).toHaveLength(4);
});

test('distinguishes a folder, an empty file and a foreign database from damage', () => {
  const home = newHome();
  const [folder, empty, other] = ['folder', 'empty.db', 'other.db'].map((name) => join(home, name)) as [string, string, string];
  mkdirSync(folder);
  writeFileSync(empty, '');
  const db = new Database(other);
  db.exec('CREATE TABLE notes (text TEXT)');
  db.close();
  expect(() => verifyBackup('x'.repeat(5_000))).toThrow('cannot be read: the name is too long.');
  expect(() => verifyBackup(folder)).toThrow(`${folder} is not a plain file.`);
  for (const file of [empty, other])
    expect(verifyBackup(file)).toEqual({ ok: false, events: 0, detail: 'This is not a backup of TrayClaw: it holds no event log.' });
});

test('the last backup is the newest sound one', async () => {
  const home = newHome();
  expect(() => restoreBackup(home, join(home, 'last'), NOW_MS)).toThrow(`There is no sound backup in ${join(home, 'backups')}.`);
  expect(() => verifyBackup(join(home, 'last'), { home, nowMs: NOW_MS })).toThrow(`There is no backup in ${join(home, 'backups')} yet.`);
  write(home, 3);
  const [older, newer] = [await backUp(home), await backUp(home, NOW_MS + 1)];
  expect(verifyBackup(join(home, 'last'), { home, nowMs: NOW_MS })).toEqual({ ok: true, events: 3, detail: 'ok' });
  expect(restoreBackup(home, join(home, 'last'), NOW_MS).from).toBe(newer);
  writeFileSync(newer, 'not a database '.repeat(100));
  expect(verifyBackup(join(home, 'last'), { home, nowMs: NOW_MS }).ok).toBe(false);
  expect(restoreBackup(home, join(home, 'last'), NOW_MS + 1).from).toBe(older);
  // It was made while the clock was ahead.
  const later = await backUp(home, NOW_MS + 31_536_000_000);
  const nextYear = Date.now() / 1000 + 31_536_000;
  utimesSync(later, nextYear, nextYear);
  expect(restoreBackup(home, join(home, 'last'), Date.now()).from).toBe(older);
  const named = join(home, 'last');
  writeFileSync(named, readFileSync(older));
  expect(restoreBackup(home, named, NOW_MS + 2).from).toBe(named);
});

test('keeps the newest replaced files, with their companions, and always one', async () => {
  const home = newHome();
  write(home, 3);
  const file = await backUp(home);
  const kept = Array.from({ length: 4 }, (_, i) => restoreBackup(home, file, NOW_MS + i * 1000).kept ?? '').reverse();
  writeFileSync(`${kept[3]}-wal`, 'wal');
  writeFileSync(join(home, 'trayclaw.db.replaced-mine'), '');
  expect(listReplaced(home)).toEqual({ files: kept, sizeBytes: kept.reduce((sum, one) => sum + statSync(one).size, 3) });
  pruneReplaced(home, 2);
  expect(listReplaced(home).files).toEqual(kept.slice(0, 2));
  pruneReplaced(home, 0);
  expect(readdirSync(home).filter((name) => name.includes('replaced'))).toEqual(
    [kept[0], 'trayclaw.db.replaced-mine'].map((path) => basename(path ?? '')),
  );
});
