// Backups of the database file: online copy, verification, restore. A restore keeps the file it replaces.

import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  copyFileSync,
  openSync,
  fsyncSync,
  closeSync,
} from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import Database from 'better-sqlite3';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { acquireOwnerLock } from './owner-lock.ts';
import { mapStorageError } from './storage-errors.ts';

export interface BackupInfo {
  readonly file: string;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
}

const NAME = /^trayclaw-[0-9TZ.-]+\.db$/;

/** Copies the live database page by page while it is in use; the copy is checked before it gets its name. */
export async function createBackup(db: Database.Database, home: string, nowMs: number): Promise<BackupInfo> {
  const folder = join(home, 'backups');
  const stamp = new Date(nowMs).toISOString().replaceAll(':', '-');
  const file = join(folder, `trayclaw-${stamp}.db`);
  const part = `${file}.part`;
  try {
    makeFolders({ mkdirSync, statSync }, folder);
    await db.backup(part);
    seal(part);
    const check = verifyBackup(part);
    if (!check.ok) throw new AppError('store_corrupt', `The backup did not pass its check: ${check.detail}`);
    renameSync(part, file);
    return { file, sizeBytes: statSync(file).size, createdAtMs: nowMs };
  } catch (cause) {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(part + suffix, { force: true });
    throw mapStorageError(cause);
  }
}

/** One file by itself, on the disk: a copy in write-ahead mode would leave two more beside it whenever it is looked at. */
function seal(file: string): void {
  const db = new Database(file);
  try {
    db.pragma('journal_mode = DELETE');
  } finally {
    db.close();
  }
  flushToDisk(file);
}

function flushToDisk(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function listBackups(home: string): BackupInfo[] {
  const folder = join(home, 'backups');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .map((name) => {
      const file = join(folder, name);
      const stat = statSync(file);
      return { file, sizeBytes: stat.size, createdAtMs: Math.trunc(stat.mtimeMs) };
    })
    .sort((a, b) => (a.file < b.file ? 1 : -1));
}

/** Keeps the newest `keep` backups. Returns the files removed. */
export function pruneBackups(home: string, keep: number): string[] {
  const removed = listBackups(home).slice(keep);
  for (const backup of removed) rmSync(backup.file, { force: true });
  return removed.map((backup) => backup.file);
}

/** Opens the file read-only and checks its structure and that it holds an event log. */
export function verifyBackup(file: string): { ok: boolean; events: number; detail: string } {
  if (!existsSync(file)) throw new AppError('not_found', `There is no backup at ${file}.`);
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { readonly: true });
    const rows = db.pragma('integrity_check(5)') as { integrity_check: string }[];
    const detail = rows.map((row) => row.integrity_check).join('; ');
    const count = db.prepare('SELECT count(*) AS n FROM events').get() as { n: number };
    return { ok: detail === 'ok', events: count.n, detail };
  } catch (cause) {
    return { ok: false, events: 0, detail: mapStorageError(cause).message };
  } finally {
    db?.close();
  }
}

/**
 * Puts a verified backup in the place of the database. Takes the owner lock, so a running instance is refused with
 * `store_locked`. The replaced file stays beside it as `trayclaw.db.replaced-…`.
 */
export function restoreBackup(home: string, file: string, nowMs: number): { restored: string; kept: string | null } {
  const source = isAbsolute(file) || existsSync(file) ? file : join(home, 'backups', basename(file));
  const check = verifyBackup(source);
  if (!check.ok)
    throw new AppError('store_corrupt', `${source} is not a sound backup: ${check.detail}`, {
      data: { hint: 'Choose another backup: trayclaw backup list' },
    });
  const release = acquireOwnerLock(home);
  try {
    const target = join(home, 'trayclaw.db');
    const fresh = `${target}.restoring`;
    copyFileSync(source, fresh);
    flushToDisk(fresh);
    const kept = existsSync(target) ? `${target}.replaced-${new Date(nowMs).toISOString().replaceAll(':', '-')}` : null;
    if (kept !== null) keepReplaced(target, kept);
    // One step from the old file to the new: a crash at any point leaves a database in place.
    renameSync(fresh, target);
    return { restored: target, kept };
  } catch (cause) {
    throw mapStorageError(cause);
  } finally {
    release();
  }
}

/** The old database gets a second name; what belongs to it goes along, so that it is never taken for the new one's. */
function keepReplaced(target: string, kept: string): void {
  try {
    linkSync(target, kept);
  } catch {
    // Not every disk knows hard links.
    copyFileSync(target, kept);
  }
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(target + suffix)) renameSync(target + suffix, kept + suffix);
  }
}
