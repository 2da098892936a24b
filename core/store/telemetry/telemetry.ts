// Telemetry: a lazy projection of the event log into packs, model calls and turn outcomes. Owns the cursor and the answers.
// Never on the path of a turn, never a source of truth: `reset` and `catchUp` make it again from the log.

import type Database from 'better-sqlite3';
import { assert } from '../../base/assert.ts';
import { localDay } from '../../base/local-day.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { Projector } from './projector.ts';
import type { ListedPack, PackRow, Spent, TelemetryRow, TelemetrySink, UsageRow } from './telemetry-rows.ts';
import { UsageReport, type UsageQuery } from './usage-report.ts';
import { UsageRollups } from './usage-rollups.ts';

export { JsonlSink } from './jsonl-sink.ts';
export type { JsonlSinkOptions } from './jsonl-sink.ts';
export { telemetryMigrations } from './telemetry-tables.ts';
export type { ModelCallRow, PackRow, Spent, TelemetryRow, TelemetrySink, TurnOutcomeRow, UsageRow } from './telemetry-rows.ts';
export type { UsageKey, UsageQuery } from './usage-report.ts';

/** Events with a global sequence above `afterSeq`, ascending, at most `limit`. Fewer than `limit` means the end of the log. */
export type ReadEvents = (afterSeq: number, limit: number) => readonly AnyEvent[];

export interface CatchUpLimits {
  /** Events a transaction. */
  readonly batch?: number;
  /** Events a call, so that one call stays short; call again while `caughtUp` is false. */
  readonly eventsMax?: number;
}

export interface TelemetryOptions {
  readonly db: Database.Database;
  readonly sinks?: readonly TelemetrySink[];
  /** The day an instant is counted under; the local calendar day unless told. */
  readonly dayOf?: (atMs: number) => string;
}

interface Cursor {
  readonly projectedSeq: number;
  readonly reportedSeq: number;
}

export class Telemetry {
  readonly #db: Database.Database;
  readonly #projector: Projector;
  readonly #rollups: UsageRollups;
  readonly #report: UsageReport;
  readonly #sinks: readonly TelemetrySink[];
  readonly #readCursor;
  readonly #moveCursor;

  constructor(options: TelemetryOptions) {
    const { db } = options;
    this.#db = db;
    const dayOf = options.dayOf ?? localDay;
    this.#rollups = new UsageRollups(db);
    this.#projector = new Projector(db, this.#rollups, dayOf);
    this.#report = new UsageReport(db, dayOf);
    this.#sinks = options.sinks ?? [];
    this.#readCursor = db.prepare<[], Cursor>(`SELECT projected_seq AS projectedSeq, reported_seq AS reportedSeq FROM telemetry_cursor`);
    this.#moveCursor = db.prepare<[number, number]>(`UPDATE telemetry_cursor SET projected_seq = ?, reported_seq = MAX(reported_seq, ?)`);
  }

  /**
   * Projects what the log holds beyond the cursor, one transaction a batch. Call it before a query that must be current and
   * before a session's events are deleted. Synchronous: with `eventsMax` a caller can yield in between.
   */
  catchUp(read: ReadEvents, limits: CatchUpLimits = {}): { projected: number; caughtUp: boolean } {
    const batch = limits.batch ?? 500;
    const eventsMax = limits.eventsMax ?? Number.POSITIVE_INFINITY;
    assert(batch > 0, 'a batch holds at least one event');
    this.#rollups.ensure(this.projectedSeq());
    let projected = 0;
    while (projected < eventsMax) {
      const limit = Math.min(batch, eventsMax - projected);
      const events = read(this.projectedSeq(), limit);
      this.#projectBatch(events);
      projected += events.length;
      if (events.length < limit) return { projected, caughtUp: true };
    }
    return { projected, caughtUp: false };
  }

  projectedSeq(): number {
    return this.#cursor().projectedSeq;
  }

  /** Forgets the projection, except of deleted sessions, whose events no longer exist. The next `catchUp` starts at the beginning. */
  reset(): void {
    this.#db.transaction(() => {
      for (const table of ['telemetry_packs', 'telemetry_model_calls', 'telemetry_turns']) {
        this.#db.exec(`DELETE FROM ${table} WHERE session_id NOT IN (SELECT session_id FROM telemetry_deleted_sessions)`);
      }
      this.#moveCursor.run(0, 0);
      // Made again at the next `catchUp`, from what was kept.
      this.#rollups.reached(-1);
    })();
  }

  /** For the op `usage.get`, as far as the last `catchUp`. `rows` cover the last `days` local days; `today` is the current one. */
  usage(query: UsageQuery): { rows: UsageRow[]; today: UsageRow } {
    return this.#report.usage(query);
  }

  packRow(packId: string): PackRow | null {
    return this.#report.packRow(packId);
  }

  /** Newest first. */
  packs(query: { readonly sessionId: string | undefined; readonly limit: number }): ListedPack[] {
    return this.#report.packs(query);
  }

  spentSince(query: { readonly sinceMs: number }): Spent {
    return this.#report.spentSince(query);
  }

  spentInSession(sessionId: string): Spent {
    return this.#report.spentInSession(sessionId);
  }

  newestCall(model: string): { readonly ok: boolean; readonly atMs: number } | null {
    return this.#report.newestCall(model);
  }

  spentInTurn(turnId: string): Spent {
    return this.#report.spentInTurn(turnId);
  }

  #projectBatch(events: readonly AnyEvent[]): void {
    const last = events.at(-1);
    if (last === undefined) return;
    const { projectedSeq, reportedSeq } = this.#cursor();
    const rows: TelemetryRow[] = [];
    this.#db.transaction(() => {
      let previous = projectedSeq;
      for (const event of events) {
        assert(event.seq > previous, 'the log is read forwards from the cursor');
        previous = event.seq;
        const row = this.#projector.apply(event);
        if (row !== null && event.seq > reportedSeq) rows.push(row);
      }
      this.#moveCursor.run(last.seq, last.seq);
      this.#rollups.reached(last.seq);
    })();
    // After the commit: a crash here loses lines of a diagnostic file, never doubles them.
    if (rows.length > 0) for (const sink of this.#sinks) sink.write(rows);
  }

  #cursor(): Cursor {
    return this.#readCursor.get() ?? { projectedSeq: 0, reportedSeq: 0 };
  }
}
