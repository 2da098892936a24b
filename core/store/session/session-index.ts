// What is kept in step with the log in the same transaction: sessions, turns, tool calls, inbound keys.
// Rebuildable from the log; small rows, few indexes, since every append pays for them.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent, EventOf, TurnStatus } from '../../contracts/events.ts';
import type { Idempotency } from '../../contracts/tools.ts';
import type { SqlDatabase } from '../storage/storage.ts';

export interface SessionRow {
  readonly sessionId: string;
  readonly title: string;
  readonly agentId: string;
  readonly channel: string;
  readonly archived: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly lastText: string;
}

export interface TurnRow {
  readonly turnId: string;
  readonly sessionId: string;
  readonly status: TurnStatus | 'queued';
  readonly firstSeq: number;
  readonly atMs: number;
}

export interface OpenCall {
  readonly callId: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly tool: string;
  readonly state: 'requested' | 'unknown';
  readonly idempotency: Idempotency;
  readonly requestedSeq: number;
  readonly pid: number | null;
  readonly startTime: string | null;
}

const LAST_TEXT_MAX = 200;

const sessionColumns =
  'session_id AS sessionId, title, agent_id AS agentId, channel, archived, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs, last_text AS lastText';
const turnColumns = 'turn_id AS turnId, session_id AS sessionId, status, first_seq AS firstSeq, at_ms AS atMs';
const callColumns =
  'call_id AS callId, session_id AS sessionId, turn_id AS turnId, tool, state, idempotency, requested_seq AS requestedSeq, pid, start_time AS startTime';

function prepareAll(db: SqlDatabase) {
  return {
    putSession: db.prepare(
      'INSERT OR IGNORE INTO sessions (session_id, title, agent_id, channel, created_at_ms, updated_at_ms) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    rename: db.prepare('UPDATE sessions SET title = ? WHERE session_id = ?'),
    archive: db.prepare('UPDATE sessions SET archived = ? WHERE session_id = ?'),
    touch: db.prepare(
      'UPDATE sessions SET last_text = ?, updated_at_ms = ?, last_turn_id = coalesce(?, last_turn_id) WHERE session_id = ?',
    ),
    setLastTurn: db.prepare('UPDATE sessions SET last_turn_id = ?, updated_at_ms = ? WHERE session_id = ?'),
    putTurn: db.prepare(
      'INSERT INTO turns (turn_id, session_id, status, first_seq, at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (turn_id) DO UPDATE SET status = excluded.status',
    ),
    setTurn: db.prepare('UPDATE turns SET status = ? WHERE turn_id = ?'),
    putCall: db.prepare(
      "INSERT INTO tool_calls (call_id, session_id, turn_id, tool, state, idempotency, requested_seq) VALUES (?, ?, ?, ?, 'requested', ?, ?) " +
        "ON CONFLICT (call_id) DO UPDATE SET state = 'requested', requested_seq = excluded.requested_seq WHERE finished_seq IS NULL",
    ),
    spawned: db.prepare('UPDATE tool_calls SET pid = ?, start_time = ? WHERE call_id = ?'),
    finishCall: db.prepare("UPDATE tool_calls SET state = 'finished', finished_seq = ? WHERE call_id = ? AND finished_seq IS NULL"),
    hasCall: db.prepare('SELECT finished_seq AS finishedSeq FROM tool_calls WHERE call_id = ?'),
    unknown: db.prepare("UPDATE tool_calls SET state = 'unknown' WHERE call_id = ? AND finished_seq IS NULL"),
    settled: db.prepare("UPDATE tool_calls SET state = 'settled' WHERE call_id = ? AND finished_seq IS NULL"),
    session: db.prepare(`SELECT ${sessionColumns} FROM sessions WHERE session_id = ?`),
    sessions: db.prepare(`SELECT ${sessionColumns} FROM sessions WHERE archived = ? ORDER BY updated_at_ms DESC, session_id DESC LIMIT ?`),
    turn: db.prepare(`SELECT ${turnColumns} FROM turns WHERE turn_id = ?`),
    openTurns: db.prepare(`SELECT ${turnColumns} FROM turns WHERE status IN ('queued', 'running', 'waiting') ORDER BY first_seq`),
    lastTurn: db.prepare(`SELECT ${turnColumns} FROM turns WHERE turn_id = (SELECT last_turn_id FROM sessions WHERE session_id = ?)`),
    openCalls: db.prepare(`SELECT ${callColumns} FROM tool_calls WHERE state IN ('requested', 'unknown') ORDER BY requested_seq`),
    findInbound: db.prepare('SELECT session_id AS sessionId, turn_id AS turnId FROM inbound WHERE channel = ? AND dedupe_key = ?'),
    putInbound: db.prepare('INSERT INTO inbound (channel, dedupe_key, session_id, turn_id) VALUES (?, ?, ?, ?)'),
    countEvents: db.prepare('SELECT count(*) AS n FROM events WHERE session_id = ?'),
  };
}

export class SessionIndex {
  readonly #db: SqlDatabase;
  readonly #sql: ReturnType<typeof prepareAll>;

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = prepareAll(db);
  }

  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'session.created':
      case 'session.renamed':
      case 'session.archived':
      case 'user.message':
      case 'assistant.message':
        this.#applyToSession(event);
        return;
      case 'turn.started':
      case 'turn.waiting':
      case 'turn.resumed':
      case 'turn.finished':
        this.#applyToTurn(event);
        return;
      case 'tool.requested':
      case 'tool.spawned':
      case 'tool.finished':
      case 'tool.outcome_unknown':
      case 'tool.outcome_settled':
        this.#applyToCall(event);
        return;
      default:
        return;
    }
  }

  /** A copied event belongs to a fork: its turns and calls stay those of the original. */
  applyCopied(event: AnyEvent): void {
    if (event.type === 'user.message' || event.type === 'assistant.message') this.#touch(event, null);
  }

  session(sessionId: string): SessionRow | null {
    const row = this.#sql.session.get(sessionId) as (Omit<SessionRow, 'archived'> & { archived: number }) | undefined;
    return row === undefined ? null : { ...row, archived: row.archived === 1 };
  }

  sessions(archived: boolean, limit: number): SessionRow[] {
    const rows = this.#sql.sessions.all(archived ? 1 : 0, limit) as (Omit<SessionRow, 'archived'> & { archived: number })[];
    return rows.map((row) => ({ ...row, archived: row.archived === 1 }));
  }

  turn(turnId: string): TurnRow | null {
    return (this.#sql.turn.get(turnId) as TurnRow | undefined) ?? null;
  }

  /** Turns that are queued, running or waiting, oldest first. */
  openTurns(): TurnRow[] {
    return this.#sql.openTurns.all() as TurnRow[];
  }

  lastTurn(sessionId: string): TurnRow | null {
    return (this.#sql.lastTurn.get(sessionId) as TurnRow | undefined) ?? null;
  }

  /** Calls that were asked for and have no result: in flight, or of unknown outcome. */
  openCalls(): OpenCall[] {
    return this.#sql.openCalls.all() as OpenCall[];
  }

  countEvents(sessionId: string): number {
    return (this.#sql.countEvents.get(sessionId) as { n: number }).n;
  }

  findInbound(channel: string, dedupeKey: string): { sessionId: string; turnId: string } | null {
    return (this.#sql.findInbound.get(channel, dedupeKey) as { sessionId: string; turnId: string } | undefined) ?? null;
  }

  putInbound(channel: string, dedupeKey: string, sessionId: string, turnId: string): void {
    this.#sql.putInbound.run(channel, dedupeKey, sessionId, turnId);
  }

  removeSession(sessionId: string): number {
    const removed = this.#db.prepare('DELETE FROM events WHERE session_id = ?').run(sessionId).changes;
    for (const table of ['heads', 'sessions', 'turns', 'tool_calls', 'inbound', 'session_text']) {
      this.#db.prepare(`DELETE FROM ${table} WHERE session_id = ?`).run(sessionId);
    }
    return removed;
  }

  #applyToSession(
    event:
      | EventOf<'session.created'>
      | EventOf<'session.renamed'>
      | EventOf<'session.archived'>
      | EventOf<'user.message'>
      | EventOf<'assistant.message'>,
  ): void {
    switch (event.type) {
      case 'session.created':
        this.#sql.putSession.run(event.sessionId, event.body.title, event.body.agentId, event.body.channel, event.atMs, event.atMs);
        return;
      case 'session.renamed':
        this.#sql.rename.run(event.body.title, event.sessionId);
        return;
      case 'session.archived':
        this.#sql.archive.run(event.body.archived ? 1 : 0, event.sessionId);
        return;
      case 'user.message':
        this.#touch(event, event.turnId);
        if (event.turnId !== null) this.#sql.putTurn.run(event.turnId, event.sessionId, 'queued', event.seq, event.atMs);
        return;
      case 'assistant.message':
        this.#touch(event, null);
        return;
    }
  }

  #touch(event: EventOf<'user.message'> | EventOf<'assistant.message'>, turnId: string | null): void {
    this.#sql.touch.run(event.body.text.slice(0, LAST_TEXT_MAX), event.atMs, turnId, event.sessionId);
  }

  #applyToTurn(event: EventOf<'turn.started'> | EventOf<'turn.waiting'> | EventOf<'turn.resumed'> | EventOf<'turn.finished'>): void {
    if (event.turnId === null) return;
    switch (event.type) {
      case 'turn.started':
        this.#sql.putTurn.run(event.turnId, event.sessionId, 'running', event.seq, event.atMs);
        // A message has set it already; a direct call and a turn that takes up another have none.
        if (event.body.kind === 'tool' || event.body.continues !== undefined)
          this.#sql.setLastTurn.run(event.turnId, event.atMs, event.sessionId);
        return;
      case 'turn.waiting':
        this.#sql.setTurn.run('waiting', event.turnId);
        return;
      case 'turn.resumed':
        this.#sql.setTurn.run('running', event.turnId);
        return;
      case 'turn.finished':
        this.#sql.setTurn.run(event.body.status, event.turnId);
        return;
    }
  }

  #applyToCall(
    event:
      | EventOf<'tool.requested'>
      | EventOf<'tool.spawned'>
      | EventOf<'tool.finished'>
      | EventOf<'tool.outcome_unknown'>
      | EventOf<'tool.outcome_settled'>,
  ): void {
    const { callId } = event.body;
    switch (event.type) {
      case 'tool.requested':
        // A pure call has nothing to settle after a crash: its turn's events say all there is to know.
        if (event.body.idempotency === 'pure') return;
        this.#sql.putCall.run(callId, event.sessionId, event.turnId, event.body.tool, event.body.idempotency, event.seq);
        return;
      case 'tool.spawned':
        this.#sql.spawned.run(event.body.pid, event.body.startTime, callId);
        return;
      case 'tool.finished':
        this.#finishCall(callId, event.seq);
        return;
      case 'tool.outcome_unknown':
        this.#sql.unknown.run(callId);
        return;
      case 'tool.outcome_settled':
        this.#sql.settled.run(callId);
        return;
    }
  }

  /** One result per call id: a second one is refused, whatever produced it. Pure calls have no row: their turn's fold refuses it. */
  #finishCall(callId: string, seq: number): void {
    if (this.#sql.finishCall.run(seq, callId).changes > 0) return;
    if (this.#sql.hasCall.get(callId) !== undefined) throw new AppError('conflict', `Call ${callId} already has a result.`);
  }
}
