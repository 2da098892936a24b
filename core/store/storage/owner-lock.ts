// Lets only one process own a data folder. The lock is an exclusive transaction on a separate file. The operating system releases it
// however the process ends, so there are no stale locks.

import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { openingError } from './storage-errors.ts';

export const ownerLockName = 'owner.lock';

/** Fails with `store_locked` while another process holds the lock. Returns a function that releases it. */
export function acquireOwnerLock(home: string): () => void {
  const file = join(home, ownerLockName);
  try {
    return lock(file, home);
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'store_corrupt') throw cause;
    // The file is always empty, and a held one could not have been read. Emptied in place, it stays the file that others lock.
    truncateSync(file);
    return lock(file, home);
  }
}

function lock(file: string, home: string): () => void {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0 });
    db.pragma('journal_mode = OFF');
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    const error = openingError(file, cause);
    if (error.code !== 'store_locked') throw error;
    throw new AppError('store_locked', `Another TrayClaw is using ${home}.`, { cause, isRetryable: true });
  }
  const held = db;
  return () => {
    held.close();
  };
}
