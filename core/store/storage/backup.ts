// Backups of the database file: online copy, verification and restore. A restore keeps the file it replaces.

import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
  copyFileSync,
  openSync,
  readSync,
  fsyncSync,
  closeSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolders } from '../../base/make-folders.ts';
import { renameOver } from '../../base/rename-over.ts';
import { syncFolder } from '../../base/sync-folder.ts';
import { AppError, unreadable } from '../../contracts/errors.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { emptyPlace, HeadFile, readHead, type LogPlace } from './head-file.ts';
import { acquireOwnerLock } from './owner-lock.ts';
import { mapStorageError } from './storage-errors.ts';

/** Other work runs between two steps of a copy. */
const PAGES_AT_ONCE = 64;

export type BackupInfo = OpResult<'backup.list'>['backups'][number];

const NAME = /^trayclaw-(auto-)?([0-9TZ.-]+)\.db$/;
const REPLACED = /^trayclaw\.db\.replaced-[0-9TZ.-]+$/;
const COMPANIONS = ['', '-wal', '-shm', '-journal'];
const PART = /\.part(?:-wal|-shm|-journal)?$/;
const PART_MS_MAX = 3_600_000;
const OWNER_ONLY = 0o600;
/** How every SQLite file starts: https://sqlite.org/fileformat.html#the_database_header */
const MAGIC = Buffer.from('SQLite format 3\0');
/** Automatic backups are counted and deleted separately, so that they never displace a backup made by a person. */
export type BackupOrigin = 'person' | 'automatic';

/** Copies the live database page by page while it is in use. The copy is checked before it gets its name. */
export async function createBackup(
  db: Database.Database,
  home: string,
  /** If `automatic` is set, the signal aborts the copy, and the caller checks the copy in steps. */
  { nowMs, automatic }: { readonly nowMs: number; readonly automatic?: AbortSignal },
): Promise<BackupInfo> {
  const folder = join(home, 'backups');
  const stamp = new Date(nowMs).toISOString().replaceAll(':', '-');
  const file = join(folder, `trayclaw-${automatic === undefined ? '' : 'auto-'}${stamp}.db`);
  const part = `${file}.part`;
  try {
    makeFolders({ mkdirSync, statSync }, folder);
    // SQLite would let everyone read it, and a backup is carried to other places.
    closeSync(openSync(part, 'w', OWNER_ONLY));
    await db.backup(part, {
      progress: () => {
        automatic?.throwIfAborted();
        return PAGES_AT_ONCE;
      },
    });
    await seal(part);
    const check = automatic === undefined ? verifyBackup(part) : { ok: true, detail: '' };
    if (!check.ok) throw new AppError('store_corrupt', `The backup did not pass its check: ${check.detail}`);
    renameOver({ renameSync }, part, file);
    syncFolder({ openSync, fsyncSync, closeSync }, folder);
    return { file, sizeBytes: statSync(file).size, createdAtMs: nowMs };
  } catch (cause) {
    removeWhole(part);
    throw mapStorageError(cause);
  }
}

/** Turns the copy into a single file on disk. A copy in write-ahead mode would create two more files whenever it is opened. */
async function seal(file: string): Promise<void> {
  // Syncs off this thread first, so that the later sync has little to wait for.
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  foldIn(file);
  flushToDisk(file);
}

function isDatabase(file: string): boolean {
  const handle = openSync(file, 'r');
  try {
    const start = Buffer.alloc(MAGIC.length);
    readSync(handle, start);
    return start.equals(MAGIC);
  } finally {
    closeSync(handle);
  }
}

/** Moves the write-ahead log into the database, which is then one file. Fails if another process reads it, or if it is not a database. */
function foldIn(file: string): void {
  const db = new Database(file, { fileMustExist: true });
  try {
    db.pragma('journal_mode = DELETE');
  } finally {
    db.close();
  }
}

function flushToDisk(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Newest first. Those with a time after `nowMs` are from before the clock was set back, and come last. */
export function listBackups(home: string, nowMs: number): BackupInfo[] {
  const folder = join(home, 'backups');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => {
      const file = join(folder, name);
      const stat = statSync(file);
      return { file, sizeBytes: stat.size, createdAtMs: Math.trunc(stat.mtimeMs) };
    })
    .sort((a, b) => Number(a.createdAtMs > nowMs) - Number(b.createdAtMs > nowMs) || (stampOf(a.file) < stampOf(b.file) ? 1 : -1));
}

function stampOf(file: string): string {
  return NAME.exec(basename(file))?.[2] ?? '';
}

function originOf(file: string): BackupOrigin {
  return NAME.exec(basename(file))?.[1] === undefined ? 'person' : 'automatic';
}

/** Keeps the newest `keep` backups of an origin. Also removes copies that were cut off. Returns the removed backups. */
export function pruneBackups(home: string, keep: number, { origin, nowMs }: { origin: BackupOrigin; nowMs: number }): string[] {
  const removed = listBackups(home, nowMs)
    .filter(({ file }) => originOf(file) === origin)
    .slice(keep);
  for (const backup of removed) rmSync(backup.file, { force: true });
  removeCutOff(join(home, 'backups'), nowMs);
  return removed.map((backup) => backup.file);
}

/** The database files that restores replaced, newest first. */
export function listReplaced(home: string): { readonly files: readonly string[]; readonly sizeBytes: number } {
  const files = readdirSync(home)
    .filter((name) => REPLACED.test(name))
    .sort()
    .reverse()
    .map((name) => join(home, name));
  const parts = files.flatMap((file) => COMPANIONS.map((suffix) => statSync(file + suffix, { throwIfNoEntry: false })?.size ?? 0));
  return { files, sizeBytes: parts.reduce((sum, size) => sum + size, 0) };
}

/** Keeps the newest `keep` replaced database files, and at least one. */
export function pruneReplaced(home: string, keep: number): void {
  for (const file of listReplaced(home).files.slice(Math.max(1, keep))) removeWhole(file);
}

/** A copy that was cut off by a kill is as large as the database. A younger one may be in the making. */
function removeCutOff(folder: string, nowMs: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const writtenMs = PART.test(name) ? statSync(path, { throwIfNoEntry: false })?.mtimeMs : undefined;
    if (writtenMs !== undefined && nowMs - writtenMs > PART_MS_MAX) rmSync(path, { force: true });
  }
}

/** Opens a backup that no other process writes, for inspection. */
export function openCopy(file: string): Database.Database {
  return new Database(file, { readonly: true });
}

/** `last` means the newest backup unless a file has that name. */
function isLast(file: string): boolean {
  return basename(file) === 'last' && !existsSync(file);
}

/** Undefined if there is nothing. */
function lookAt(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

/** Opens the file read-only, and checks its structure and that it contains an event log. */
export function verifyBackup(
  given: string,
  last?: { readonly home: string; readonly nowMs: number },
): { ok: boolean; events: number; detail: string } {
  const file = last !== undefined && isLast(given) ? newestBackup(last.home, last.nowMs) : given;
  const stat = lookAt(file);
  if (stat === undefined) throw new AppError('not_found', `There is no backup at ${file}.`, { hint: 'See: trayclaw backup list' });
  if (!stat.isFile()) throw new AppError('invalid_params', `${file} is not a plain file.`, { hint: 'See: trayclaw backup list' });
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true });
    const rows = db.pragma('integrity_check(5)') as { integrity_check: string }[];
    const detail = rows.map((row) => row.integrity_check).join('; ');
    const hasLog = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'events'").get() !== undefined;
    if (!hasLog) return { ok: false, events: 0, detail: 'This is not a backup of TrayClaw: it holds no event log.' };
    const count = db.prepare('SELECT count(*) AS n FROM events').get() as { n: number };
    return { ok: detail === 'ok', events: count.n, detail };
  } catch (cause) {
    return { ok: false, events: 0, detail: mapStorageError(cause).message };
  } finally {
    db?.close();
  }
}

/**
 * Replaces the database with a verified backup. Takes the owner lock, so it fails with `store_locked` if an instance is running. The
 * replaced file is kept in the same folder as `trayclaw.db.replaced-…`.
 */
export function restoreBackup(home: string, given: string, nowMs: number): { from: string; restored: string; kept: string | null } {
  const own = isAbsolute(given) || existsSync(given) ? given : join(home, REPLACED.test(given) ? '' : 'backups', basename(given));
  const from = isLast(given) ? newestSound(home, nowMs) : own;
  const check = verifyBackup(from);
  if (!check.ok)
    throw new AppError('store_corrupt', `${from} is not a sound backup: ${check.detail}`, {
      hint: 'Restore the newest one that is sound: trayclaw backup restore last',
    });
  // On another machine there is no data folder yet.
  makeFolders({ mkdirSync, statSync }, home);
  const release = acquireOwnerLock(home);
  try {
    const target = join(home, 'trayclaw.db');
    const fresh = `${target}.restoring`;
    copyWhole(from, fresh);
    const kept = existsSync(target) ? `${target}.replaced-${new Date(nowMs).toISOString().replaceAll(':', '-')}` : null;
    if (kept !== null) keepReplaced(target, kept);
    if (kept !== null) carryMarks(kept, fresh);
    // A single rename replaces the old file, so a complete database exists after a crash at any point.
    // The head file never names events that the database lacks, because that is how a lost end of the log is noticed.
    pointHeadAt(home, fresh, nowMs);
    renameOver({ renameSync }, fresh, target);
    syncFolder({ openSync, fsyncSync, closeSync }, home);
    return { from, restored: target, kept };
  } catch (cause) {
    removeWhole(`${join(home, 'trayclaw.db')}.restoring`);
    throw mapStorageError(cause);
  } finally {
    release();
  }
}

/**
 * A restore leaves files as they are, so the marks of untrusted content in them stay. The log that recorded the marks is gone, so no session
 * owns them.
 */
function carryMarks(from: string, to: string): void {
  const marks = marksIn(from);
  if (marks.length === 0) return;
  const db = new Database(to);
  try {
    const put = db.prepare(
      "INSERT INTO tainted_files (path, session_id, seq) VALUES (?, '', ?) ON CONFLICT (path) DO UPDATE SET cleaned = 0",
    );
    db.transaction(() => marks.forEach(({ path, seq }) => put.run(path, seq)))();
  } finally {
    db.close();
  }
  foldIn(to);
  flushToDisk(to);
}

/** A damaged file cannot tell, and one of an earlier program has no marks. It is only read: SQLite would delete the log of an empty one. */
function marksIn(file: string): readonly { readonly path: string; readonly seq: number }[] {
  if (statSync(file).size === 0) return [];
  try {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], { path: string; seq: number }>('SELECT path, seq FROM tainted_files WHERE cleaned = 0').all();
    } finally {
      db.close();
    }
  } catch {
    return [];
  }
}

/** Copies a database with the events that only its write-ahead log holds, into one file that is on disk. */
function copyWhole(from: string, to: string): void {
  removeWhole(to);
  for (const suffix of ['', '-wal'].filter((one) => existsSync(from + one))) {
    copyFileSync(from + suffix, to + suffix);
    chmodSync(to + suffix, OWNER_ONLY);
  }
  foldIn(to);
  flushToDisk(to);
}

function removeWhole(file: string): void {
  for (const suffix of COMPANIONS) rmSync(file + suffix, { force: true });
}

/** Fails with `not_found`. */
function newestBackup(home: string, nowMs: number): string {
  const [found] = listBackups(home, nowMs);
  if (found !== undefined) return found.file;
  throw new AppError('not_found', `There is no backup in ${join(home, 'backups')} yet.`, { hint: 'Make one: trayclaw backup create' });
}

/** Fails with `not_found`. */
function newestSound(home: string, nowMs: number): string {
  const found = listBackups(home, nowMs).find(({ file }) => verifyBackup(file).ok);
  if (found !== undefined) return found.file;
  throw new AppError('not_found', `There is no sound backup in ${join(home, 'backups')}.`, {
    hint: 'Name the file of one that is kept elsewhere: trayclaw backup restore FILE',
  });
}

/**
 * The person chose to let the log end where the backup ends, so the head file is set to that position. This does not release a panic stop.
 */
function pointHeadAt(home: string, file: string, nowMs: number): void {
  const before = readHead(home);
  const known = before === 'damaged' ? null : before;
  const db = new Database(file, { readonly: true });
  try {
    const newest =
      (db.prepare('SELECT seq, lower(hex(hash)) AS hash FROM events ORDER BY seq DESC LIMIT 1').get() as LogPlace | undefined) ??
      emptyPlace;
    const hasMark = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'log_head'").get() !== undefined;
    const mark = hasMark ? (db.prepare('SELECT database_id AS id FROM log_head').get() as { id: string } | undefined) : undefined;
    const databaseId = mark?.id ?? known?.databaseId ?? randomBytes(16).toString('hex');
    new HeadFile(home, { databaseId, newest, durable: newest, stopped: known?.stopped ?? false, atMs: nowMs, bootedAtMs: 0 }).close();
  } finally {
    db.close();
  }
}

/**
 * Gives the old database a second name. After a crash, its last events are only in its write-ahead log; they are moved into the file
 * first, so that neither name is without them at any point. The companions of a damaged one are moved along as they are.
 */
function keepReplaced(target: string, kept: string): void {
  try {
    // SQLite deletes the log of a file that is empty or no database.
    if (isDatabase(target)) foldIn(target);
  } catch {
    // A damaged file is kept as it is.
  }
  try {
    linkSync(target, kept);
  } catch {
    // Some file systems have no hard links.
    copyFileSync(target, kept);
  }
  for (const suffix of COMPANIONS.slice(1)) {
    if (existsSync(target + suffix)) renameOver({ renameSync }, target + suffix, kept + suffix);
  }
}
