// The usage rows follow the log: events wait in memory and are counted together, in a quiet moment or before the rows are read. The position of
// the last counted event is written with them, so that the next start counts those that a crash left waiting.

import { localDay } from '../../base/local-day.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { LogCursor, Statements, type SqlDatabase } from '../../store/storage/storage.ts';
import { isCounted, UsageBatch } from './usage-batch.ts';
import { sumAgain } from './usage-schema.ts';

/** Events with a global sequence above `afterSeq`, ascending, at most `limit`. */
export type ReadEvents = (afterSeq: number, limit: number) => readonly AnyEvent[];

const CURSOR = 'usage-counted';
/** Of a version that counted each event with its append: there is one, so nothing before it is left uncounted. */
const EARLIER_CURSOR = 'usage';
const EVENTS_READ = 500;
/** So many waiting events are counted at once. */
const WAITING_MAX = 250;

const statements = {
  earliestCursor: 'SELECT projected_seq FROM telemetry_cursor',
};

interface UsageRowsOptions {
  /** The day an instant is counted under; the local calendar day unless told. */
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
  /** Events since the cursor, counted or not: what a start after a crash reads. */
  #sinceCursor = 0;
  #seq = 0;

  constructor(db: SqlDatabase, { dayOf = localDay, transact = (work) => db.transaction(work)() }: UsageRowsOptions = {}) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#cursor = new LogCursor(db, CURSOR);
    this.#batch = new UsageBatch(db, dayOf);
    this.#transact = transact;
  }

  /** Committed events, in order. */
  take(events: readonly AnyEvent[]): void {
    for (const event of events) {
      this.#seq = event.seq;
      if (isCounted(event)) this.#waiting.push(event);
    }
    this.#sinceCursor += events.length;
    if (this.#sinceCursor >= WAITING_MAX) this.close();
  }

  /** Counts what waits, and moves the cursor past events that do not count as well: the next start reads none again. */
  close(): void {
    if (this.#sinceCursor > 0) this.#count();
  }

  /** Counts the waiting events. To be called before the rows are read. */
  settle(): void {
    if (this.#waiting.length > 0) this.#count();
  }

  #count(): void {
    // An outer transaction may be rolled back; counted again, they change nothing.
    const isKept = this.#db.inTransaction;
    this.#transact(() => this.#apply(this.#waiting, this.#seq));
    if (isKept) return;
    this.#waiting = [];
    this.#sinceCursor = 0;
  }

  /** In the transaction that deletes a session or begins a fork: waiting events are counted before any leave the log or are copied. */
  apply(event: AnyEvent): void {
    if (event.type === 'session.deleted' || (event.type === 'session.created' && event.body.forkedFrom !== null)) this.settle();
  }

  /** A copy costs nothing, also after a crash. */
  applyCopied({ seq }: AnyEvent): void {
    this.#cursor.moveTo(seq);
  }

  /** At the start: counts the events that an earlier run, or an earlier version of the program, left uncounted. */
  takeOver(read: ReadEvents): void {
    const counted = this.#cursor.seq;
    if (counted !== undefined) this.#applyAfter(counted, read);
    else if (new LogCursor(this.#db, EARLIER_CURSOR).seq === undefined)
      this.#applyAfter(this.#sql.value(statements.earliestCursor) as number, read);
    else this.#cursor.moveTo(this.#sql.value('SELECT coalesce(max(seq), 0) FROM events') as number);
  }

  /** Again from the log. What deleted sessions spent stays: their events are gone, and what was spent is spent. */
  rebuild(read: ReadEvents): void {
    this.settle();
    for (const table of ['telemetry_packs', 'telemetry_model_calls', 'telemetry_turns']) {
      this.#db.exec(`DELETE FROM ${table} WHERE session_id IN (SELECT session_id FROM sessions)`);
    }
    sumAgain(this.#db);
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
