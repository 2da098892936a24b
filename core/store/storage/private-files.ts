// Keeps the files of the data folder private to their owner, even after the folder is copied or moved. Never fails: if a file cannot be
// made private, the code that opens it reports the problem.

import { chmodSync, closeSync, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { ownerLockName } from './owner-lock.ts';

const ownerOnly = 0o600;
/** SQLite gives its other files the mode of the database. */
const made = [ownerLockName, 'trayclaw.db'];
const found = [...made, 'trayclaw.db-wal', 'trayclaw.db-shm', 'config.yaml'];

export function keepPrivate(home: string): void {
  if (process.platform === 'win32') return;
  // Only a new file is opened: closing one that this process already uses would release its locks on it.
  for (const name of made) attempt(() => closeSync(openSync(join(home, name), 'wx', ownerOnly)));
  for (const name of found) {
    attempt(() => {
      const path = join(home, name);
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat?.isFile() === true && (stat.mode & 0o077) !== 0) chmodSync(path, ownerOnly);
    });
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It exists; or SQLite or the reader of the settings fails in the same way and reports it.
  }
}
