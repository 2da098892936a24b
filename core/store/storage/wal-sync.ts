// Waits for the disk without blocking the event loop. When the promise resolves, everything written to the write-ahead log before the call
// is on disk. Calls during a wait share the next one. Knows no transactions.

import { closeSync, fdatasync, openSync } from 'node:fs';
import { AppError } from '../../contracts/errors.ts';
import { mapStorageError } from './storage-errors.ts';

export class WalSync {
  readonly #path: string;
  /**
   * Opened at the first wait, because SQLite creates the file with its first write. Holds no lock, so closing it releases none of SQLite's
   * locks.
   */
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
      // Closing the database has moved the whole log into it.
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
