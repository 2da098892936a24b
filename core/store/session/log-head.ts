// Compares the log with the head file: reports at the start whether the end of the log is missing, and updates the file after each commit.
// Does not decide how to handle a gap, and writes no events.

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { LogGap } from '../../contracts/log-gap.ts';
import type { SqlDatabase, Storage } from '../storage/storage.ts';
import { emptyPlace, HeadFile, readHead, type HeadRecord, type LogPlace } from '../storage/storage.ts';

export interface LogHeadDeps {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bootedAtMs: number;
}

/** The boot time read from the system varies with changes of the clock. */
const BOOT_SLACK_MS = 120_000;

export class LogHead {
  readonly #deps: LogHeadDeps;
  readonly #before: HeadRecord | 'damaged' | null;
  #file: HeadFile | null = null;
  #newest: LogPlace;
  #durable: LogPlace;
  #stopped = false;
  #hasFailed = false;
  /** The gap found at the start; null if the log is complete as far as the head file knows. */
  readonly gap: LogGap | null;

  constructor(deps: LogHeadDeps) {
    this.#deps = deps;
    const { db, home } = deps.storage;
    this.#before = readHead(home);
    this.#newest = newestPlace(db);
    this.#durable = this.#newest;
    this.gap = findGap(db, this.#before, { newest: this.#newest, bootedAtMs: deps.bootedAtMs });
  }

  /** True if the head file says that the panic stop was engaged and the log has no later release. After a gap, only the head file counts. */
  get wasStopped(): boolean {
    const before = this.#before;
    if (before === null || before === 'damaged' || !before.stopped) return false;
    const released = this.#deps.storage.db.prepare("SELECT 1 FROM events WHERE seq > ? AND type = 'panic.released' LIMIT 1");
    return this.gap !== null || released.get(before.newest.seq) === undefined;
  }

  /**
   * Starts to follow the log. Must be called after a gap is recorded as an event: until then, the file is its only trace. A failure to
   * create the file does not prevent the start. A throwaway folder has no head file.
   */
  begin(): void {
    const { storage, clock, bootedAtMs } = this.#deps;
    if (storage.isThrowaway) return;
    this.#attempt(() => {
      const known = storage.db.prepare('SELECT database_id AS id FROM log_head').get() as { id: string } | undefined;
      const before = this.#before === 'damaged' ? null : this.#before;
      const databaseId = known?.id ?? before?.databaseId ?? randomBytes(16).toString('hex');
      this.#file = new HeadFile(storage.home, {
        databaseId,
        newest: this.#newest,
        durable: this.#durable,
        stopped: this.#stopped,
        atMs: clock.nowMs(),
        bootedAtMs,
      });
      if (known !== undefined) return;
      const mark = storage.db.prepare('INSERT INTO log_head (id, database_id, since_seq) VALUES (1, ?, ?)');
      storage.transact(() => mark.run(databaseId, this.#newest.seq), true);
      // Moved into the database file itself, so that the record remains if the write-ahead log and the head file are removed.
      storage.checkpoint();
    });
  }

  /** Called after a commit. `isDurable` is true if the commit waited for the disk. */
  note(place: LogPlace, isDurable: boolean): void {
    this.#newest = place;
    if (isDurable) this.#durable = place;
    this.#put();
  }

  /** Called when everything up to this position is on disk. */
  reached(place: LogPlace): void {
    if (place.seq <= this.#durable.seq) return;
    this.#durable = place;
    this.#put();
  }

  setStopped(stopped: boolean): void {
    if (stopped === this.#stopped) return;
    this.#stopped = stopped;
    // Written twice, to fill both slots.
    this.#put();
    this.#put();
  }

  /** Moves all commits into the database file and syncs the head file. For idle moments and the panic stop. */
  secure(): void {
    this.#attempt(() => {
      if (this.#deps.storage.checkpoint()) this.#durable = this.#newest;
      this.#put();
      this.#file?.flush();
    });
  }

  dispose(): void {
    this.secure();
    this.#attempt(() => this.#file?.close());
    this.#file = null;
  }

  #put(): void {
    const file = this.#file;
    if (file === null) return;
    this.#attempt(() => file.put({ newest: this.#newest, durable: this.#durable, stopped: this.#stopped, atMs: this.#deps.clock.nowMs() }));
  }

  /** The log is authoritative: a head file that cannot be written stops nothing, and is reported once. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      this.#deps.logger.log('error', 'The head file of the log cannot be written; a loss of its end would not be noticed.', {
        cause: String(cause),
      });
    }
  }
}

interface Now {
  readonly newest: LogPlace;
  readonly bootedAtMs: number;
}

function findGap(db: SqlDatabase, before: HeadRecord | 'damaged' | null, { newest, bootedAtMs }: Now): LogGap | null {
  const gap = (reason: LogGap['reason'], expectedSeq: number | null): LogGap => ({
    reason,
    expectedSeq,
    foundSeq: newest.seq,
    missing: expectedSeq === null ? null : Math.max(0, expectedSeq - newest.seq),
    atMs: before === null || before === 'damaged' ? null : before.atMs,
  });
  if (before === 'damaged') return gap('head-damaged', null);
  if (before === null) return db.prepare('SELECT 1 FROM log_head').get() === undefined ? null : gap('head-missing', null);
  const expected = before.newest;
  if (newest.seq >= expected.seq) return agrees(db, expected) ? null : gap('other-log', expected.seq);
  // A power cut can lose only commits that did not wait for the disk.
  const isNewRun = Math.abs(before.bootedAtMs - bootedAtMs) > BOOT_SLACK_MS;
  const isWithinPromise = newest.seq >= before.durable.seq && agrees(db, before.durable);
  return gap(isNewRun && isWithinPromise ? 'power-cut' : 'rewound', expected.seq);
}

/** Returns whether the log contains the position with the same hash. A position of a session deleted since then proves nothing. */
function agrees(db: SqlDatabase, place: LogPlace): boolean {
  if (place.seq === 0) return true;
  const row = db.prepare('SELECT lower(hex(hash)) AS hash FROM events WHERE seq = ?').get(place.seq) as { hash: string } | undefined;
  if (row !== undefined) return row.hash === place.hash;
  return db.prepare("SELECT 1 FROM events WHERE seq > ? AND type = 'session.deleted' LIMIT 1").get(place.seq) !== undefined;
}

function newestPlace(db: SqlDatabase): LogPlace {
  const row = db.prepare('SELECT seq, lower(hex(hash)) AS hash FROM events ORDER BY seq DESC LIMIT 1').get();
  return (row as LogPlace | undefined) ?? emptyPlace;
}
