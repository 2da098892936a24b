// Lets only one process own a data folder. The lock is an exclusive transaction on a separate file. The operating system releases it
// however the process ends, so there are no stale locks.

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { AppError } from '../../contracts/errors.ts';
import { mapStorageError } from './storage-errors.ts';

export const ownerLockName = 'owner.lock';

/** Fails with `store_locked` while another process holds the lock. Returns a function that releases it. */
export function acquireOwnerLock(home: string): () => void {
  let db: Database.Database | undefined;
  try {
    db = new Database(join(home, ownerLockName), { timeout: 0 });
    db.pragma('journal_mode = OFF');
    db.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    db?.close();
    const error = mapStorageError(cause);
    if (error.code !== 'store_locked') throw error;
    throw new AppError('store_locked', `Another TrayClaw is using ${home}.`, { cause, isRetryable: true });
  }
  const held = db;
  return () => {
    held.close();
  };
}
