// The usage rows follow the log. Events wait in memory and are counted together, at an idle moment or before the rows are read. The
// position of the last counted event is stored with the rows, so that the next start counts the events that a crash left waiting.

import { localDay } from '../../base/local-day.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { LogCursor, Statements, type SqlDatabase } from '../../store/storage/storage.ts';
import { isCounted, UsageBatch } from './usage-batch.ts';
import { rebuildSums } from './usage-schema.ts';

/** Returns events with a sequence number above `afterSeq`, ascending, at most `limit`. */
export type ReadEvents = (afterSeq: number, limit: number) => readonly AnyEvent[];

const CURSOR = 'usage-counted';
/** The cursor of an earlier version, which counted each event when it was appended. If it exists, all earlier events are counted. */
const EARLIER_CURSOR = 'usage';
const EVENTS_READ = 500;
/** The number of uncounted events at which they are counted. */
const WAITING_MAX = 250;

const statements = {
  earliestCursor: 'SELECT projected_seq FROM telemetry_cursor',
};

interface UsageRowsOptions {
  /** The day under which a moment is counted; defaults to the local calendar day. */
  readonly dayOf?: (atMs: number) => string;
  readonly transact?: (work: () => void) => void;
}

export class UsageRows {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  readonly #cursor: LogCursor;
  readonly #batch: UsageBatch;
  readonly #transact: (work: () => void) => void;
  #waiting: AnyEvent[] = [];
  /** The number of events since the cursor, counted or not, which a start after a crash would read. */
  #sinceCursor = 0;
  #seq = 0;

  constructor(db: SqlDatabase, { dayOf = localDay, transact = (work) => db.transaction(work)() }: UsageRowsOptions = {}) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#cursor = new LogCursor(db, CURSOR);
    this.#batch = new UsageBatch(db, dayOf);
    this.#transact = transact;
  }

  /** Takes committed events, in order. */
  take(events: readonly AnyEvent[]): void {
    for (const event of events) {
      this.#seq = event.seq;
      if (isCounted(event)) this.#waiting.push(event);
    }
    this.#sinceCursor += events.length;
    if (this.#sinceCursor >= WAITING_MAX) this.close();
  }

  /**
   * Counts pending events, and moves the cursor past events that are not counted as well, so that the next start does not read them again.
   */
  close(): void {
    if (this.#sinceCursor > 0) this.#count();
  }

  /** Counts pending events. Called before the rows are read. */
  settle(): void {
    if (this.#waiting.length > 0) this.#count();
  }

  #count(): void {
    // An outer transaction may be rolled back, so the events are kept. Counting them again changes nothing.
    const isKept = this.#db.inTransaction;
    this.#transact(() => this.#apply(this.#waiting, this.#seq));
    if (isKept) return;
    this.#waiting = [];
    this.#sinceCursor = 0;
  }

  /** Called in the transaction that deletes a session or begins a fork. Counts pending events before they leave the log or are copied. */
  apply(event: AnyEvent): void {
    if (event.type === 'session.deleted' || (event.type === 'session.created' && event.body.forkedFrom !== null)) this.settle();
  }

  /** A copied event costs nothing, not even after a crash. */
  applyCopied({ seq }: AnyEvent): void {
    this.#cursor.moveTo(seq);
  }

  /** At start, counts the events that an earlier run, or an earlier version of the program, left uncounted. */
  takeOver(read: ReadEvents): void {
    const counted = this.#cursor.seq;
    if (counted !== undefined) this.#applyAfter(counted, read);
    else if (new LogCursor(this.#db, EARLIER_CURSOR).seq === undefined)
      this.#applyAfter(this.#sql.value(statements.earliestCursor) as number, read);
    else this.#cursor.moveTo(this.#sql.value('SELECT coalesce(max(seq), 0) FROM events') as number);
  }

  /** Rebuilds the rows from the log. The rows of deleted sessions stay: their events are gone, but the money was spent. */
  rebuild(read: ReadEvents): void {
    this.settle();
    for (const table of ['telemetry_packs', 'telemetry_model_calls', 'telemetry_turns']) {
      this.#db.exec(`DELETE FROM ${table} WHERE session_id IN (SELECT session_id FROM sessions)`);
    }
    rebuildSums(this.#db);
    this.#applyAfter(0, read);
  }

  #applyAfter(afterSeq: number, read: ReadEvents): void {
    for (let seq = afterSeq; ;) {
      const events = read(seq, EVENTS_READ);
      const last = events.at(-1)?.seq ?? seq;
      if (last > seq || afterSeq === 0) this.#transact(() => this.#apply(events.filter(isCounted), last));
      seq = last;
      if (events.length < EVENTS_READ) return;
    }
  }

  #apply(events: readonly AnyEvent[], seq: number): void {
    this.#batch.apply(events);
    this.#cursor.moveTo(seq);
  }
}
