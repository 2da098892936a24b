// Reads the log in bounded batches: slices by position, window, type and phase. Unreadable rows are quarantined and reported.

import { AppError } from '../../contracts/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { AnyEvent, EventEnvelope, EventOf, EventType, Phase } from '../../contracts/events.ts';
import { Statements, type SqlDatabase } from '../storage/storage.ts';
import { eventColumns, readEventRow, type EventRow } from './event-rows.ts';

export interface SliceQuery {
  /** Only above this position in the session. */
  readonly after?: number;
  /** Only below this position in the session. */
  readonly before?: number;
  readonly types?: readonly EventType[];
  readonly phase?: Phase;
  readonly limit: number;
  /** If true, returns the last `limit` matches, still in ascending order. */
  readonly newest?: boolean;
}

const BATCH = 500;

export class SessionReads {
  readonly #sql: Statements;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(db: SqlDatabase, clock: Clock, logger: Logger) {
    this.#sql = new Statements(db);
    this.#clock = clock;
    this.#logger = logger;
  }

  lastSeq(): number {
    const row = this.#sql.prepare('SELECT max(seq) AS seq FROM events').get() as { seq: number | null };
    return row.seq ?? 0;
  }

  /** Returns position and hash of the last event of a session. */
  head(sessionId: string): { sessionSeq: number; hashHex: string } | null {
    const row = this.#sql
      .prepare('SELECT session_seq, lower(hex(hash)) AS hash FROM events WHERE session_id = ? ORDER BY session_seq DESC LIMIT 1')
      .get(sessionId) as { session_seq: number; hash: string } | undefined;
    return row === undefined ? null : { sessionSeq: row.session_seq, hashHex: row.hash };
  }

  /**
   * Returns events of all sessions in global order. Unreadable rows are skipped, quarantined and replaced by later ones, so fewer than
   * `limit` events means the end of the log.
   */
  after(seq: number, limit: number, sessionId?: string): AnyEvent[] {
    const events: AnyEvent[] = [];
    let from = seq;
    for (;;) {
      const wanted = limit - events.length;
      const rows = this.#rowsAfter(from, wanted, sessionId);
      events.push(...this.#readable(rows));
      const last = rows.at(-1);
      if (last === undefined || rows.length < wanted || events.length >= limit) return events;
      from = last.seq;
    }
  }

  /** Like `after`, filtered by type. `scannedTo` is the last position read. */
  afterOfTypes(seq: number, limit: number, types: readonly EventType[]): { events: AnyEvent[]; scannedTo: number } {
    const rows = this.#sql.prepare(`SELECT ${eventColumns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`).all(seq, limit) as EventRow[];
    const wanted = rows.filter((row) => types.includes(row.type as EventType));
    return { events: this.#readable(wanted), scannedTo: rows.at(-1)?.seq ?? seq };
  }

  slice(sessionId: string, query: SliceQuery): AnyEvent[] {
    return this.#readable(this.#sliceRows(sessionId, query));
  }

  /** Like `slice`, for display. The body of an unreadable event is null. */
  envelopes(sessionId: string, query: SliceQuery): EventEnvelope[] {
    return this.#sliceRows(sessionId, query).map((row) => this.#envelope(row));
  }

  /** Returns all events of a turn. Fails with store_corrupt if an event is unreadable, because a turn must not continue from a guess. */
  turn(sessionId: string, turnId: string, firstSeq: number): AnyEvent[] {
    const rows = this.#sql
      .prepare(
        `SELECT ${eventColumns} FROM events WHERE session_id = ? AND session_seq >= (SELECT session_seq FROM events WHERE seq = ?) AND turn_id = ? ORDER BY session_seq`,
      )
      .all(sessionId, firstSeq, turnId) as EventRow[];
    return this.#strict(rows);
  }

  /** Returns one page of a turn for display, above a global position. Unreadable events are skipped. */
  turnPage(
    turn: { readonly sessionId: string; readonly turnId: string; readonly firstSeq: number },
    after: number,
    limit: number,
  ): AnyEvent[] {
    const rows = this.#sql
      .prepare(
        `SELECT ${eventColumns} FROM events WHERE session_id = ? AND session_seq >= (SELECT session_seq FROM events WHERE seq = ?) AND turn_id = ?
         AND seq > ? ORDER BY session_seq LIMIT ?`,
      )
      .all(turn.sessionId, turn.firstSeq, turn.turnId, after, limit) as EventRow[];
    return this.#readable(rows);
  }

  /** Returns the events at these global positions, for display. */
  at(seqs: readonly number[]): AnyEvent[] {
    const rows = this.#sql
      .prepare(`SELECT ${eventColumns} FROM events WHERE seq IN (SELECT value FROM json_each(?))`)
      .all(JSON.stringify(seqs)) as EventRow[];
    return this.#readable(rows);
  }

  /** Returns a session's events in order, in batches. Fails if an event is unreadable. */
  *iterateSession(sessionId: string, upTo = Number.MAX_SAFE_INTEGER, after = 0): Generator<AnyEvent> {
    let from = after;
    for (;;) {
      const rows = this.#sql
        .prepare(
          `SELECT ${eventColumns} FROM events WHERE session_id = ? AND session_seq > ? AND session_seq <= ? ORDER BY session_seq LIMIT ${BATCH}`,
        )
        .all(sessionId, from, upTo) as EventRow[];
      yield* this.#strict(rows);
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) return;
      from = last.session_seq;
    }
  }

  /** Returns how a turn ended, or null while it runs. */
  turnEnd(sessionId: string, turnId: string): EventOf<'turn.finished'>['body'] | null {
    const rows = this.#sql
      .prepare(
        `SELECT ${eventColumns} FROM events WHERE session_id = ? AND turn_id = ? AND type = 'turn.finished' ORDER BY session_seq DESC LIMIT 1`,
      )
      .all(sessionId, turnId) as EventRow[];
    const event = this.#strict(rows)[0];
    return event?.type === 'turn.finished' ? event.body : null;
  }

  /** Returns the turns of a session that ended at or before a position. */
  endedTurns(sessionId: string, upTo: number): Set<string> {
    const sql = "SELECT turn_id AS turnId FROM events WHERE session_id = ? AND session_seq <= ? AND type = 'turn.finished'";
    const rows = this.#sql.prepare(sql).all(sessionId, upTo) as { turnId: string | null }[];
    return new Set(rows.flatMap(({ turnId }) => (turnId === null ? [] : [turnId])));
  }

  /** Returns the first position of the last `turns` turns that began before a position, or 0 if there are no more turns than that. */
  turnsBegin(sessionId: string, turns: number, before = Number.MAX_SAFE_INTEGER): number {
    const rows = this.#sql
      .prepare(
        `SELECT turn_id AS turnId, session_seq AS place FROM events WHERE session_id = ? AND session_seq < ?
         AND type IN ('user.message', 'turn.started') ORDER BY session_seq DESC LIMIT ?`,
      )
      .all(sessionId, before, turns * 2 + 2) as { turnId: string | null; place: number }[];
    const begun = new Map<string, number>();
    for (const { turnId, place } of rows) if (turnId !== null) begun.set(turnId, place);
    const places = [...begun.values()].sort((a, b) => b - a);
    return places.length <= turns ? 0 : (places[turns - 1] ?? 0);
  }

  /** Returns the newest event of one type that names a call. */
  lastOfCall<T extends 'tool.outcome_unknown' | 'tool.requested' | 'mcp.task_started'>(
    sessionId: string,
    type: T,
    callId: string,
  ): EventOf<T> | null {
    const rows = this.#sql
      .prepare(
        `SELECT ${eventColumns} FROM events WHERE session_id = ? AND type = ? AND CASE WHEN json_valid(body) THEN json_extract(body, '$.callId') END = ? ORDER BY session_seq DESC LIMIT 1`,
      )
      .all(sessionId, type, callId) as EventRow[];
    return (this.#strict(rows)[0] as EventOf<T> | undefined) ?? null;
  }

  /** Returns the events of some types from one global position up to, but not including, another, newest first. */
  newestBetween(types: readonly EventType[], fromSeq: number, toSeq: number): AnyEvent[] {
    const marks = types.map(() => '?').join(', ');
    const sql = `SELECT ${eventColumns} FROM events WHERE seq >= ? AND seq < ? AND type IN (${marks}) ORDER BY seq DESC`;
    return this.#readable(this.#sql.prepare(sql).all(fromSeq, toSeq, ...types) as EventRow[]);
  }

  /** Converts a global position to a position in the session: its first event at or after it, or one past the end if there is none. */
  placeOf(sessionId: string, seq: number): number {
    const row = this.#sql
      .prepare('SELECT session_seq AS place FROM events WHERE session_id = ? AND seq >= ? ORDER BY session_seq LIMIT 1')
      .get(sessionId, seq) as { place: number } | undefined;
    return row?.place ?? (this.head(sessionId)?.sessionSeq ?? 0) + 1;
  }

  /** Returns the position of the first event at or after a time, or one past the end if there is none. Times ascend with the positions. */
  placeAtTime(sessionId: string, atMs: number): number {
    const time = this.#sql.prepare(
      'SELECT session_seq AS place, at_ms AS atMs FROM events WHERE session_id = ? AND session_seq >= ? ORDER BY session_seq LIMIT 1',
    );
    let [from, to] = [1, (this.head(sessionId)?.sessionSeq ?? 0) + 1];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const row = time.get(sessionId, middle) as { place: number; atMs: number } | undefined;
      if (row === undefined || row.atMs >= atMs) to = middle;
      else from = row.place + 1;
    }
    return from;
  }

  quarantined(): { seq: number; reason: string }[] {
    return this.#sql.prepare('SELECT seq, reason FROM quarantine ORDER BY seq LIMIT 1000').all() as { seq: number; reason: string }[];
  }

  #rowsAfter(seq: number, limit: number, sessionId: string | undefined): EventRow[] {
    if (sessionId === undefined)
      return this.#sql.prepare(`SELECT ${eventColumns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?`).all(seq, limit) as EventRow[];
    // Finds the position in the session from its end, where readers of new events are, so that the cost does not grow with the session.
    return this.#sql
      .prepare(
        `SELECT ${eventColumns} FROM events WHERE session_id = ? AND session_seq > coalesce(
         (SELECT session_seq FROM events WHERE session_id = ? AND seq <= ? ORDER BY session_seq DESC LIMIT 1), 0)
       ORDER BY session_seq LIMIT ?`,
      )
      .all(sessionId, sessionId, seq, limit) as EventRow[];
  }

  #sliceRows(sessionId: string, query: SliceQuery): EventRow[] {
    const where = ['session_id = ?', 'session_seq > ?', 'session_seq < ?'];
    const values: (string | number)[] = [sessionId, query.after ?? 0, query.before ?? Number.MAX_SAFE_INTEGER];
    if (query.types !== undefined) {
      where.push(`type IN (${query.types.map(() => '?').join(', ')})`);
      values.push(...query.types);
    }
    if (query.phase !== undefined) {
      where.push('phase = ?');
      values.push(query.phase);
    }
    values.push(query.limit);
    const order = query.newest === true ? 'DESC' : 'ASC';
    const sql = `SELECT ${eventColumns} FROM events WHERE ${where.join(' AND ')} ORDER BY session_seq ${order} LIMIT ?`;
    const rows = this.#sql.prepare(sql).all(...values) as EventRow[];
    return query.newest === true ? rows.reverse() : rows;
  }

  #readable(rows: readonly EventRow[]): AnyEvent[] {
    const events: AnyEvent[] = [];
    for (const row of rows) {
      const event = readEventRow(row);
      if (event.ok) events.push(event.value);
      else this.#quarantine(row.seq, event.error);
    }
    return events;
  }

  #strict(rows: readonly EventRow[]): AnyEvent[] {
    return rows.map((row) => {
      const event = readEventRow(row);
      if (event.ok) return event.value;
      this.#quarantine(row.seq, event.error);
      throw new AppError('store_corrupt', `Event ${row.seq} of session ${row.session_id} cannot be read: ${event.error}.`, {
        data: { seq: row.seq, sessionId: row.session_id },
        hint: 'Nothing was changed. Run trayclaw audit verify, then restore a backup or delete this session.',
      });
    });
  }

  #envelope(row: EventRow): EventEnvelope {
    const event = readEventRow(row);
    if (event.ok) return event.value;
    this.#quarantine(row.seq, event.error);
    return {
      seq: row.seq,
      sessionId: row.session_id,
      sessionSeq: row.session_seq,
      turnId: row.turn_id,
      step: row.step,
      phase: null,
      type: row.type,
      v: row.v,
      atMs: row.at_ms,
      body: null,
    };
  }

  #quarantine(seq: number, reason: string): void {
    this.#logger.log('error', 'an event cannot be read', { seq, reason });
    try {
      this.#sql
        .prepare('INSERT OR IGNORE INTO quarantine (seq, reason, found_at_ms) VALUES (?, ?, ?)')
        .run(seq, reason, this.#clock.nowMs());
    } catch (cause) {
      // A full or read-only disk must not hide the error from the reader.
      this.#logger.log('error', 'an unreadable event could not be put on the list', { seq, cause: String(cause) });
    }
  }
}
