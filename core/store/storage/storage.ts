// The SQLite file: opening, the single-owner lock, transactions with and without a disk-sync barrier, migrations, integrity. Knows nothing
// of events. Every SQLite failure is reported as a `store_*` error.

import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { SyncMeter } from '../../contracts/claw.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { AppError } from '../../contracts/errors.ts';
import { migrate, type Migration } from './migrations.ts';
import { acquireOwnerLock } from './owner-lock.ts';
import { keepPrivate } from './private-files.ts';
import { homeError, mapStorageError, openingError, refuseLongHome } from './storage-errors.ts';
import { WalSync } from './wal-sync.ts';

export {
  createBackup,
  listBackups,
  listReplaced,
  openCopy,
  pruneBackups,
  pruneReplaced,
  restoreBackup,
  verifyBackup,
  type BackupInfo,
} from './backup.ts';
export { endOwner } from './end-owner.ts';
export { HeldRows } from './held-rows.ts';
export { emptyPlace, HeadFile, readHead, type HeadRecord, type LogPlace } from './head-file.ts';
export { sqlMigrations, type Migration } from './migrations.ts';
export { folderError, mapSqliteError, mapStorageError } from './storage-errors.ts';
export { LogCursor } from './log-cursor.ts';
export { Statements } from './statements.ts';
export { searchedWords, WordIndex, wordIndexForm, wordsIn, type RankedRow } from './word-index.ts';

export type SqlDatabase = Database.Database;
export type SqlStatement = Database.Statement;

export interface StorageOptions {
  /** The data folder. Created with mode 0700 if it is missing. */
  readonly home: string;
  readonly migrations: readonly Migration[];
  /** False for a read-only check that must not take the lock (verification of a copy). */
  readonly lock?: boolean;
  /** True for a folder that is deleted at the end: nothing waits for the disk, and a power cut may damage it. */
  readonly isThrowaway?: boolean;
  /** For fault tests: called before and after the work of each migration. */
  readonly reachMigration?: () => void;
}

const CACHE_PAGES_KIB = -16_000;
const CHECKPOINT_PAGES = 4_000;
/** The maximum size of an idle write-ahead log. */
const WAL_BYTES_MAX = 4 * 1024 * 1024;

/**
 * One connection to `trayclaw.db` in WAL mode. Uses `synchronous=FULL` for barrier transactions, so that they survive a power cut, and
 * `NORMAL` for all others (https://sqlite.org/pragma.html#pragma_synchronous).
 */
export class Storage {
  readonly db: SqlDatabase;
  readonly home: string;
  readonly isThrowaway: boolean;
  readonly #releaseLock: () => void;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #rollback: Database.Statement;
  readonly #wal: WalSync;
  readonly #afterCommit: (() => void)[] = [];
  /** The same object for the life of the storage; its counts are updated in place. */
  readonly syncMeter: SyncMeter = { totalMs: 0, count: 0 };
  #depth = 0;
  #barrier = false;
  #full = false;
  #doomed = false;

  private constructor(db: SqlDatabase, { home, isThrowaway = false }: StorageOptions, releaseLock: () => void) {
    this.db = db;
    this.home = home;
    this.isThrowaway = isThrowaway;
    this.#releaseLock = releaseLock;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#rollback = db.prepare('ROLLBACK');
    this.#wal = new WalSync(join(home, 'trayclaw.db-wal'));
  }

  /** Fails with store_locked, store_readonly, store_corrupt, store_too_new or store_full. Nothing is changed then. */
  static open(options: StorageOptions): Storage {
    makeHome(options.home);
    const release = options.lock === false ? (): void => undefined : acquireOwnerLock(options.home);
    const file = join(options.home, 'trayclaw.db');
    let db: SqlDatabase | undefined;
    try {
      db = new Database(file);
      db.pragma('journal_mode = WAL');
      db.pragma(`synchronous = ${options.isThrowaway === true ? 'OFF' : 'NORMAL'}`);
      db.pragma('fullfsync = 1');
      db.pragma('checkpoint_fullfsync = 1');
      db.pragma('foreign_keys = ON');
      db.pragma(`cache_size = ${CACHE_PAGES_KIB}`);
      // Checkpoints run when idle. The automatic checkpoint only limits a log that is never idle.
      db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      db.pragma(`journal_size_limit = ${WAL_BYTES_MAX}`);
      migrate(db, options.migrations, options.reachMigration);
      return new Storage(db, options, release);
    } catch (cause) {
      db?.close();
      release();
      throw openingError(file, cause);
    }
  }

  /** Runs further schema changes that depend on data already read. */
  migrate(migrations: readonly Migration[]): void {
    migrate(this.db, migrations);
  }

  get inTransaction(): boolean {
    return this.#depth > 0;
  }

  /** Returns whether the running transaction will wait for the disk. */
  get inBarrier(): boolean {
    return this.#depth > 0 && this.#barrier;
  }

  /**
   * Runs `work` in one transaction; a nested call joins the outer one. With `barrier`, the commit waits for the disk. A nested barrier
   * fails unless the outer transaction is a barrier. Rolls back if `work` throws.
   */
  transact<T>(work: () => T, barrier = false): T {
    if (this.#depth > 0) {
      if (barrier && !this.#barrier) throw new AppError('internal', 'a barrier was asked for inside a transaction that is not one');
      return this.#nested(work);
    }
    try {
      this.#setFull(barrier);
      this.#begin.run();
    } catch (cause) {
      throw mapStorageError(cause);
    }
    this.#depth = 1;
    this.#barrier = barrier;
    this.#doomed = false;
    try {
      const value = work();
      if (this.#doomed) throw new AppError('internal', 'a part of this transaction failed, so none of it is kept');
      this.#finish();
      return value;
    } catch (cause) {
      this.#abandon();
      throw mapStorageError(cause);
    }
  }

  /**
   * A barrier whose caller waits for the disk: commits at once, and `onDisk` resolves when the commit would survive a power cut. Concurrent
   * waits are combined. Must not be called inside another transaction.
   */
  transactAhead<T>(work: () => T): { readonly value: T; readonly onDisk: Promise<void> } {
    // The first barrier of the connection also syncs the folder, because the log file may be new.
    if (this.isThrowaway || this.syncMeter.count === 0) return { value: this.transact(work, true), onDisk: Promise.resolve() };
    const value = this.transact(work);
    this.syncMeter.count += 1;
    return { value, onDisk: this.#wal.wait() };
  }

  /** Runs the action after the outermost commit, or at once if there is no transaction. Dropped on rollback. */
  afterCommit(action: () => void): void {
    if (this.#depth === 0) action();
    else this.#afterCommit.push(action);
  }

  /**
   * Returns SQLite's report on the whole file: only "ok" if it is sound. Slow on a large file. `full` also compares the indexes with the
   * tables.
   */
  integrity(full: boolean): string[] {
    try {
      // Both pragmas return one column with the name of the pragma.
      const rows = this.db.pragma(full ? 'integrity_check(20)' : 'quick_check(20)') as Record<string, string>[];
      return rows.flatMap((row) => Object.values(row));
    } catch (cause) {
      return [mapStorageError(cause).message];
    }
  }

  /** Moves the write-ahead log into the database file. For idle moments. Returns whether all of it was moved and is on disk. */
  checkpoint(): boolean {
    if (this.isThrowaway) return true;
    try {
      const isWhole = this.#moved('PASSIVE');
      if (isWhole && this.walBytes > WAL_BYTES_MAX) this.#moved('TRUNCATE');
      return isWhole;
    } catch (cause) {
      throw mapStorageError(cause);
    }
  }

  /** The size of the write-ahead log file. Its content may already be in the database file. */
  get walBytes(): number {
    return statSync(join(this.home, 'trayclaw.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Never waits for readers. Pages that they still need are moved the next time. */
  #moved(how: 'PASSIVE' | 'TRUNCATE'): boolean {
    const timeout = this.db.pragma('busy_timeout', { simple: true }) as number;
    this.db.pragma('busy_timeout = 0');
    try {
      const [row] = this.db.pragma(`wal_checkpoint(${how})`) as { busy: number; log: number; checkpointed: number }[];
      return row !== undefined && row.busy === 0 && row.log === row.checkpointed;
    } finally {
      this.db.pragma(`busy_timeout = ${timeout}`);
    }
  }

  dispose(): void {
    try {
      this.#wal.dispose();
      if (this.db.open) {
        if (!this.isThrowaway) this.#optimize();
        this.db.close();
      }
    } catch (cause) {
      throw mapStorageError(cause);
    } finally {
      this.#releaseLock();
    }
  }

  #optimize(): void {
    try {
      this.db.pragma('optimize');
    } catch {
      // This only speeds up later queries. A damaged or full file must not keep the database from being closed.
    }
  }

  #nested<T>(work: () => T): T {
    this.#depth += 1;
    try {
      return work();
    } catch (cause) {
      // The failed work may be half done, so a caller that catches this error must not commit it.
      this.#doomed = true;
      throw cause;
    } finally {
      this.#depth -= 1;
    }
  }

  #setFull(full: boolean): void {
    if (full === this.#full || this.isThrowaway) return;
    this.db.exec(full ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
    this.#full = full;
  }

  #finish(): void {
    if (this.#barrier) {
      const startedMs = performance.now();
      this.#commit.run();
      this.syncMeter.totalMs += performance.now() - startedMs;
      this.syncMeter.count += 1;
    } else {
      this.#commit.run();
    }
    this.#depth = 0;
    if (this.#afterCommit.length === 0) return;
    const actions = this.#afterCommit.splice(0);
    for (const action of actions) action();
  }

  #abandon(): void {
    // If the commit succeeded but a callback threw, there is nothing to roll back.
    if (this.#depth === 0) return;
    this.#depth = 0;
    this.#afterCommit.length = 0;
    if (this.db.inTransaction) this.#rollback.run();
  }
}

function makeHome(home: string): void {
  try {
    refuseLongHome(home);
    const stat = statSync(home, { throwIfNoEntry: false });
    if (stat?.isDirectory() !== true) makeFolders({ mkdirSync, statSync }, home);
    else if (process.platform !== 'win32') chmodSync(home, 0o700);
    keepPrivate(home);
  } catch (cause) {
    throw homeError(home, cause);
  }
}
