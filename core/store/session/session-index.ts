// Rows kept in step with the log in the same transaction: sessions, turns, tool calls, inbound keys. They can be rebuilt from the log. Rows
// are small and indexes few, because every append pays for them.

import { NewestMap } from '../../base/newest-map.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyEvent, type EventOf, type TurnStatus } from '../../contracts/events.ts';
import type { SessionInfo } from '../../contracts/op-results.ts';
import type { Idempotency } from '../../contracts/tools.ts';
import type { PlanMode } from '../../contracts/turn-bounds.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import { Statements, type SqlDatabase } from '../storage/storage.ts';
import type { PermittingRows } from './permitting-rows.ts';
import { RowChanges, type SessionChange } from './row-changes.ts';

export interface SessionRow extends Readonly<Omit<SessionInfo, 'events' | 'status' | 'pendingApprovals'>> {
  /** The number of finished and waiting turns since a person last looked or wrote. */
  readonly unread: number;
}

export interface ListedSession extends SessionRow {
  /** The status of its newest turn. */
  readonly status: TurnRow['status'] | null;
  readonly events: number;
}

export interface SessionsQuery {
  readonly archived: boolean;
  readonly helpers?: boolean;
  readonly limit: number;
  /** Only sessions that work in this folder; null is the configured workspace. */
  readonly workspace?: string | null;
  /** The last session of the previous page. */
  readonly after?: SessionPlace;
}

/** The position of a session in the list. */
export type SessionPlace = Pick<SessionRow, 'pinned' | 'updatedAtMs' | 'sessionId'>;

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
  /** Not null if the call has its result: its tool could not tell whether it took effect. */
  readonly finishedSeq: number | null;
  readonly pid: number | null;
  readonly startTime: string | null;
}

/** About the number of sessions in use at once. */
const ROWS_KEPT = 64;

const sessionColumns =
  'session_id AS sessionId, title, agent_id AS agentId, channel, archived, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs, last_text AS lastText, pinned, model, workspace, plan_first AS planFirst, seen_seq AS seenSeq, unread';
// The additional columns are read only for the rows of the page.
const listed = (page: string): string =>
  `SELECT p.*, (SELECT status FROM turns WHERE turn_id = p.lastTurnId) AS status,
     (SELECT session_seq FROM events WHERE session_id = p.sessionId ORDER BY session_seq DESC LIMIT 1) AS events
   FROM (SELECT ${sessionColumns}, last_turn_id AS lastTurnId FROM sessions WHERE ${page}) p`;
const listOrder = 'ORDER BY pinned DESC, updated_at_ms DESC, session_id DESC LIMIT ?';
const owned = Object.values(ownChannels)
  .map((channel) => `'${channel}'`)
  .join();
/** Sessions of internal channels are included only on request. */
const notSystem = `archived = ? AND session_id <> '${systemSessionId}' AND (channel NOT IN (${owned}) OR ?) AND (? OR workspace IS ?)`;
const turnColumns = 'turn_id AS turnId, session_id AS sessionId, status, first_seq AS firstSeq, at_ms AS atMs';
const callColumns =
  'call_id AS callId, session_id AS sessionId, turn_id AS turnId, tool, state, idempotency, requested_seq AS requestedSeq, finished_seq AS finishedSeq, pid, start_time AS startTime';

const statements = {
  putSession: `INSERT OR IGNORE INTO sessions (session_id, title, agent_id, channel, workspace, created_at_ms, updated_at_ms, last_text, last_turn_id, unread, seen_seq)
     VALUES (@sessionId, @title, @agentId, @channel, @workspace, @createdAtMs, @updatedAtMs, coalesce(@lastText, ''), @lastTurnId, @news, @seenSeq)`,
  configure:
    "UPDATE sessions SET agent_id = @agentId, model = @model, plan_first = nullif(coalesce(@planFirst, plan_first), 'off') WHERE session_id = @sessionId",
  // Readers usually look from near the end of the log, so only few events follow the position.
  see: `UPDATE sessions SET seen_seq = max(seen_seq, @seq), unread = (
       SELECT count(*) FROM events WHERE session_id = @sessionId AND type IN ('turn.finished', 'turn.waiting') AND session_seq > coalesce(
         (SELECT session_seq FROM events WHERE session_id = @sessionId AND seq <= max(sessions.seen_seq, @seq) ORDER BY session_seq DESC LIMIT 1), 0)
     ) WHERE session_id = @sessionId`,
  touch: `UPDATE sessions SET last_text = coalesce(@lastText, last_text), updated_at_ms = coalesce(@updatedAtMs, updated_at_ms),
       last_turn_id = coalesce(@lastTurnId, last_turn_id), unread = iif(@readSeq IS NULL, unread, 0) + @news,
       seen_seq = max(seen_seq, coalesce(@readSeq, 0)) WHERE session_id = @sessionId`,
  putTurn:
    'INSERT INTO turns (turn_id, session_id, status, first_seq, at_ms) VALUES (?, ?, ?, ?, ?) ON CONFLICT (turn_id) DO UPDATE SET status = excluded.status',
  putCall:
    "INSERT INTO tool_calls (call_id, session_id, turn_id, tool, state, idempotency, requested_seq) VALUES (?, ?, ?, ?, 'requested', ?, ?) " +
    "ON CONFLICT (call_id) DO UPDATE SET state = 'requested', requested_seq = excluded.requested_seq WHERE finished_seq IS NULL",
  spawned: 'UPDATE tool_calls SET pid = ?, start_time = ? WHERE call_id = ?',
  hasCall: 'SELECT finished_seq AS finishedSeq FROM tool_calls WHERE call_id = ?',
  sessionsAfter: listed(`${notSystem} AND (pinned, updated_at_ms, session_id) < (?, ?, ?) ${listOrder}`),
  lastTurn: `SELECT ${turnColumns} FROM turns WHERE turn_id = (SELECT last_turn_id FROM sessions WHERE session_id = ?)`,
  findInbound: 'SELECT session_id AS sessionId, turn_id AS turnId FROM inbound WHERE channel = ? AND dedupe_key = ?',
  putInbound: 'INSERT INTO inbound (channel, dedupe_key, session_id, turn_id) VALUES (?, ?, ?, ?)',
};

const sessionEvents = { rows: 'sessions', key: 'session_id', keyInBody: 'session_id', sessions: 'SELECT session_id FROM sessions' };

/** The folder of a session and the plan that holds its calls back permit as much as a grant. A copied event of this kind does not exist. */
export const sessionPermits: readonly PermittingRows[] = [
  {
    ...sessionEvents,
    what: 'The folder of the session',
    value: "coalesce(workspace, '')",
    events: ['session.created'],
    valueInBody: "coalesce(json_extract(body, '$.workspace'), '')",
    undo: 'trayclaw sessions delete KEY',
  },
  {
    ...sessionEvents,
    what: 'The plan mode of the session',
    rows: `(SELECT session_id, plan_first FROM sessions WHERE plan_first IS NOT NULL UNION
      SELECT e.session_id, s.plan_first FROM events e JOIN sessions s USING (session_id)
        WHERE e.type = 'session.configured' AND json_extract(e.body, '$.planFirst') IS NOT NULL)`,
    value: "coalesce(plan_first, 'off')",
    events: ['session.configured'],
    keyInBody: "iif(json_extract(body, '$.planFirst') IS NULL, NULL, session_id)",
    valueInBody: "json_extract(body, '$.planFirst')",
    undo: 'trayclaw sessions delete KEY',
  },
];

export class SessionIndex {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  /** Cached rows of sessions in use, updated with every write, because each turn reads its session many times. */
  readonly #known = new NewestMap<string, SessionRow>(ROWS_KEPT);

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = new Statements(db);
  }

  /** Applies the events of one append to one session. Copied events belong to a fork; their turns and calls stay with the original. */
  apply(sessionId: string, events: readonly AnyEvent[], copied: boolean): void {
    const changes = new RowChanges();
    for (const event of events) {
      if (copied) changes.addCopied(event);
      else changes.add(event);
    }
    if (changes.session !== null) this.#writeSession(sessionId, changes.session);
    for (const [turnId, { status, first }] of changes.turns) {
      if (first === null) this.#sql.run('UPDATE turns SET status = ? WHERE turn_id = ?', status, turnId);
      else this.#sql.run(statements.putTurn, turnId, sessionId, status, first.seq, first.atMs);
    }
    if (!copied) for (const event of events) this.#applyToCalls(event);
  }

  session(sessionId: string): SessionRow | null {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known;
    const row = this.#sql.row<Stored<SessionRow>>(`SELECT ${sessionColumns} FROM sessions WHERE session_id = ?`, sessionId);
    if (row === undefined) return null;
    return this.#keep({ ...row, archived: row.archived === 1, pinned: row.pinned === 1 });
  }

  /** Called after a rollback: rows written or read in the transaction are no longer valid. */
  forget(): void {
    this.#known.clear();
  }

  listedSession(sessionId: string): ListedSession | null {
    const row = this.#sql.row<Stored<ListedSession>>(listed('session_id = ?'), sessionId);
    return row === undefined ? null : listedRow(row);
  }

  /** Pinned sessions first, then newest first. Excludes the system session. */
  sessions({ archived, helpers = false, workspace, limit, after }: SessionsQuery): ListedSession[] {
    const wanted = [Number(archived), Number(helpers), Number(workspace === undefined), workspace ?? null] as const;
    const rows =
      after === undefined
        ? this.#sql.rows(listed(`${notSystem} ${listOrder}`), ...wanted, limit)
        : this.#sql.rows(statements.sessionsAfter, ...wanted, Number(after.pinned), after.updatedAtMs, after.sessionId, limit);
    return (rows as Stored<ListedSession>[]).map(listedRow);
  }

  turn(turnId: string): TurnRow | null {
    return this.#sql.row<TurnRow>(`SELECT ${turnColumns} FROM turns WHERE turn_id = ?`, turnId) ?? null;
  }

  /** Turns that are queued, running or waiting, oldest first. */
  openTurns(): TurnRow[] {
    return this.#sql.rows<TurnRow>(`SELECT ${turnColumns} FROM turns WHERE status IN ('queued', 'running', 'waiting') ORDER BY first_seq`);
  }

  lastTurn(sessionId: string): TurnRow | null {
    return this.#sql.row<TurnRow>(statements.lastTurn, sessionId) ?? null;
  }

  turnOfCall(callId: string): string | null {
    return this.#sql.row<{ turnId: string | null }>('SELECT turn_id AS turnId FROM tool_calls WHERE call_id = ?', callId)?.turnId ?? null;
  }

  /** Requested calls without a result: in flight, or with an unknown outcome. */
  openCalls(): OpenCall[] {
    return this.#sql.rows<OpenCall>(`SELECT ${callColumns} FROM tool_calls WHERE state IN ('requested', 'unknown') ORDER BY requested_seq`);
  }

  /** Calls without a result whose outcome is unknown. */
  lostCalls(): OpenCall[] {
    return this.openCalls().filter(({ state, finishedSeq }) => state === 'unknown' && finishedSeq === null);
  }

  countEvents(sessionId: string): number {
    return (this.#sql.row('SELECT count(*) AS n FROM events WHERE session_id = ?', sessionId) as { n: number }).n;
  }

  /** Returns whether any tool was ever called. */
  hasCalls(): boolean {
    return this.#db.prepare('SELECT 1 FROM tool_calls LIMIT 1').get() !== undefined;
  }

  findInbound(channel: string, dedupeKey: string): { sessionId: string; turnId: string } | null {
    return this.#sql.row<{ sessionId: string; turnId: string }>(statements.findInbound, channel, dedupeKey) ?? null;
  }

  putInbound(channel: string, dedupeKey: string, sessionId: string, turnId: string): void {
    this.#sql.run(statements.putInbound, channel, dedupeKey, sessionId, turnId);
  }

  removeSession(sessionId: string): number {
    this.#known.delete(sessionId);
    const removed = this.#db.prepare('DELETE FROM events WHERE session_id = ?').run(sessionId).changes;
    this.#db.prepare('DELETE FROM activity_text WHERE rowid IN (SELECT seq FROM activity WHERE session_id = ?)').run(sessionId);
    for (const table of ['heads', 'sessions', 'turns', 'tool_calls', 'inbound', 'session_text', 'activity']) {
      this.#db.prepare(`DELETE FROM ${table} WHERE session_id = ?`).run(sessionId);
    }
    return removed;
  }

  #writeSession(sessionId: string, change: SessionChange): void {
    const { created, title, archived, pinned, configured, lastText, lastTurnId, updatedAtMs, readSeq, news, seenSeq } = change;
    const isNew = created !== null && this.#putSession(created, change);
    if (!isNew && (updatedAtMs !== null || news > 0))
      this.#sql.run(statements.touch, { sessionId, lastText, updatedAtMs, lastTurnId, readSeq, news });
    if (title !== null) this.#sql.run('UPDATE sessions SET title = ? WHERE session_id = ?', title, sessionId);
    if (archived !== null) this.#sql.run('UPDATE sessions SET archived = ? WHERE session_id = ?', archived ? 1 : 0, sessionId);
    if (pinned !== null) this.#sql.run('UPDATE sessions SET pinned = ? WHERE session_id = ?', pinned ? 1 : 0, sessionId);
    if (configured !== null) this.#sql.run(statements.configure, { planFirst: null, ...configured, sessionId });
    // Recounts from that position, including this append.
    if (seenSeq !== null) this.#sql.run(statements.see, { sessionId, seq: seenSeq });
    this.#update(sessionId, change);
  }

  /** Returns true if the session did not exist. */
  #putSession({ body, sessionId, atMs }: EventOf<'session.created'>, change: SessionChange): boolean {
    const { updatedAtMs, lastText, lastTurnId, news, readSeq } = change;
    const { title, agentId, channel, workspace = null } = body;
    const begun = { sessionId, title, agentId, channel, workspace, createdAtMs: atMs };
    const said = { updatedAtMs: updatedAtMs ?? atMs, lastText, lastTurnId, news, seenSeq: readSeq ?? 0 };
    const isNew = this.#sql.run(statements.putSession, { ...begun, ...said }).changes > 0;
    if (isNew) this.#keep({ ...newRow, ...begun, updatedAtMs: atMs });
    return isNew;
  }

  #update(sessionId: string, change: SessionChange): void {
    const known = this.#known.get(sessionId);
    // The database counted the unread turns, so the cached row is stale.
    if (change.seenSeq !== null) this.#known.delete(sessionId);
    else if (known !== undefined) this.#known.set(sessionId, changed(known, change));
  }

  #keep(row: SessionRow): SessionRow {
    this.#known.set(row.sessionId, row);
    return row;
  }

  #applyToCalls(event: AnyEvent): void {
    switch (event.type) {
      case 'tool.requested': {
        // A pure call has nothing to settle after a crash. The events of its turn are sufficient.
        const { callId, tool, idempotency } = event.body;
        if (idempotency !== 'pure') this.#sql.run(statements.putCall, callId, event.sessionId, event.turnId, tool, idempotency, event.seq);
        return;
      }
      case 'tool.spawned':
        this.#sql.run(statements.spawned, event.body.pid, event.body.startTime, event.body.callId);
        return;
      case 'tool.finished':
        this.#finishCall(event.body.callId, event.seq);
        return;
      case 'tool.outcome_unknown':
        this.#sql.run("UPDATE tool_calls SET state = 'unknown' WHERE call_id = ?", event.body.callId);
        return;
      case 'tool.outcome_settled':
        this.#sql.run("UPDATE tool_calls SET state = 'settled' WHERE call_id = ?", event.body.callId);
        return;
      default:
        return;
    }
  }

  /** Refuses a second result of a call. Pure calls have no row; the fold of their turn refuses a second result. */
  #finishCall(callId: string, seq: number): void {
    const call = this.#sql.row<{ finishedSeq: number | null }>(statements.hasCall, callId);
    if (call === undefined) return;
    if (call.finishedSeq !== null) throw new AppError('conflict', `Call ${callId} already has a result.`);
    this.#sql.run("UPDATE tool_calls SET state = 'finished', finished_seq = ? WHERE call_id = ? AND finished_seq IS NULL", seq, callId);
  }
}

const newRow = { archived: false, lastText: '', pinned: false, model: null, planFirst: null, seenSeq: 0, unread: 0 };

/** Returns the row as the statements of a change leave it. */
function changed(
  row: SessionRow,
  { title, archived, pinned, configured, lastText, updatedAtMs, readSeq, news }: SessionChange,
): SessionRow {
  return {
    ...row,
    title: title ?? row.title,
    archived: archived ?? row.archived,
    pinned: pinned ?? row.pinned,
    ...(configured === null ? {} : { agentId: configured.agentId, model: configured.model, planFirst: planAfter(configured, row) }),
    lastText: lastText ?? row.lastText,
    updatedAtMs: updatedAtMs ?? row.updatedAtMs,
    unread: (readSeq === null ? row.unread : 0) + news,
    seenSeq: Math.max(row.seenSeq, readSeq ?? 0),
  };
}

function planAfter({ planFirst }: NonNullable<SessionChange['configured']>, row: SessionRow): PlanMode | null {
  if (planFirst === undefined) return row.planFirst;
  return planFirst === 'off' ? null : planFirst;
}

/** SQLite has no booleans. */
type Stored<T> = Omit<T, 'archived' | 'pinned'> & { readonly archived: number; readonly pinned: number };

function listedRow(row: Stored<ListedSession> & { readonly lastTurnId?: unknown }): ListedSession {
  const { lastTurnId: _, ...kept } = row;
  return { ...kept, archived: row.archived === 1, pinned: row.pinned === 1, events: row.events ?? 0 };
}
