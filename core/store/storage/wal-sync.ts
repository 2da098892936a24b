// Waits for the disk without blocking the event loop: everything that was written to the write-ahead log before the call is on the disk when the promise
// resolves. Calls that come while one wait runs share the next one. Knows no transactions.

import { closeSync, fdatasync, openSync } from 'node:fs';
import { AppError } from '../../contracts/errors.ts';
import { mapStorageError } from './storage-errors.ts';

export class WalSync {
  readonly #path: string;
  /** Opened with the first wait: SQLite makes the file with its first write. No lock is held on it, so closing it frees none of SQLite's. */
  #handle: number | null = null;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Rejects with a store error. */
  wait(): Promise<void> {
    if (this.#next !== null) return this.#next;
    if (this.#running === null) return this.#start();
    const start = (): Promise<void> => {
      this.#next = null;
      return this.#start();
    };
    this.#next = this.#running.then(start, start);
    return this.#next;
  }

  dispose(): void {
    this.#isClosed = true;
    if (this.#running === null) this.#close();
  }

  #start(): Promise<void> {
    const running = new Promise<void>((resolve, reject) => {
      // The database is closed: that moved all of the log into it.
      if (this.#isClosed) return resolve();
      this.#handle ??= openSync(this.#path, 'r+');
      fdatasync(this.#handle, (cause) => {
        if (cause === null) resolve();
        else reject(cause);
      });
    }).then(
      () => this.#ended(),
      (cause: unknown) => {
        this.#ended();
        const error = mapStorageError(cause);
        if (error.code !== 'internal') throw error;
        throw new AppError('store_failed', 'The disk reported an error.', { cause });
      },
    );
    this.#running = running;
    return running;
  }

  #ended(): void {
    this.#running = null;
    if (this.#isClosed) this.#close();
  }

  #close(): void {
    if (this.#handle !== null) closeSync(this.#handle);
    this.#handle = null;
  }
}
