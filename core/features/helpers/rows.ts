// Subagent calls as rows, kept in step with their events: queued, running and finished ones, and which turn pays for which. The events are
// the source of truth. Starts nothing.

import { byType } from '../../contracts/event-table.ts';
import type { EventBodies, EventOf } from '../../contracts/events.ts';
import { helperEndSchema, type HelperEnd } from '../../contracts/features/helpers.ts';
import { usageSchema, type Usage } from '../../contracts/llm.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import { HeldRows, Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const helperMigrations: readonly Migration[] = sqlMigrations({
  'helpers-001-jobs': `
    CREATE TABLE IF NOT EXISTS a2a_jobs (
      job_id TEXT PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, session_id TEXT NOT NULL, turn_id TEXT NOT NULL,
      depth INTEGER NOT NULL, mode TEXT NOT NULL, created_at_ms INTEGER NOT NULL, deadline_ms INTEGER NOT NULL, called TEXT NOT NULL,
      helper_session_id TEXT, helper_turn_id TEXT, attempt INTEGER NOT NULL DEFAULT 0, cancelled_by TEXT, status TEXT,
      text TEXT NOT NULL DEFAULT '', usage TEXT, cost_usd REAL, finished_at_ms INTEGER, delivered INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS a2a_jobs_open ON a2a_jobs (state, created_at_ms) WHERE state <> 'finished';
    CREATE INDEX IF NOT EXISTS a2a_jobs_by_turn ON a2a_jobs (turn_id);
    CREATE INDEX IF NOT EXISTS a2a_jobs_by_session ON a2a_jobs (session_id, created_at_ms);
    CREATE INDEX IF NOT EXISTS a2a_jobs_by_helper ON a2a_jobs (helper_session_id);
    CREATE TABLE IF NOT EXISTS a2a_turns (turn_id TEXT PRIMARY KEY, job_id TEXT NOT NULL, parent_turn_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS a2a_turns_by_parent ON a2a_turns (parent_turn_id);
    CREATE INDEX IF NOT EXISTS a2a_turns_by_job ON a2a_turns (job_id);
  `,
});

/** queued → running → finished; running → retrying → running after a temporary failure. */
type JobState = 'queued' | 'running' | 'retrying' | 'finished';

type Called = EventBodies['a2a.called'];

export interface HelperJob extends Called {
  readonly state: JobState;
  readonly createdAtMs: number;
  readonly helperSessionId: string | null;
  /** The turn of the newest attempt. */
  readonly helperTurnId: string | null;
  readonly attempt: number;
  readonly cancelledBy: string | null;
  readonly status: HelperEnd | null;
  readonly text: string;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly finishedAtMs: number | null;
}

interface StoredJob extends Omit<HelperJob, keyof Called | 'status' | 'usage'> {
  readonly called: string;
  readonly status: string | null;
  readonly usage: string | null;
}

const deliveredPrefix = 'a2a:';

export function deliveryKey(jobId: string): string {
  return `${deliveredPrefix}${jobId}`;
}

const columns =
  'state, called, created_at_ms AS createdAtMs, helper_session_id AS helperSessionId, helper_turn_id AS helperTurnId, attempt, ' +
  'cancelled_by AS cancelledBy, status, text, usage, cost_usd AS costUsd, finished_at_ms AS finishedAtMs';
const listMax = 1_000;

const statements = {
  cancel: 'UPDATE a2a_jobs SET cancelled_by = coalesce(cancelled_by, ?) WHERE job_id = ?',
  put: `INSERT OR IGNORE INTO a2a_jobs (job_id, idempotency_key, state, session_id, turn_id, depth, mode, created_at_ms, deadline_ms, called)
     VALUES (?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)`,
  start: "UPDATE a2a_jobs SET state = 'running', helper_session_id = ?, helper_turn_id = ?, attempt = ? WHERE job_id = ?",
  putTurn: 'INSERT OR IGNORE INTO a2a_turns (turn_id, job_id, parent_turn_id) SELECT ?, job_id, turn_id FROM a2a_jobs WHERE job_id = ?',
  finish: "UPDATE a2a_jobs SET state = 'finished', status = ?, text = ?, usage = ?, cost_usd = ?, finished_at_ms = ? WHERE job_id = ?",
  dropTurns: 'DELETE FROM a2a_turns WHERE job_id IN (SELECT job_id FROM a2a_jobs WHERE session_id = ? OR helper_session_id = ?)',
  byHelperTurn: `SELECT ${columns} FROM a2a_jobs WHERE job_id = (SELECT job_id FROM a2a_turns WHERE turn_id = ?)`,
  openOfTurn: `SELECT ${columns} FROM a2a_jobs WHERE turn_id = ? AND state <> 'finished' ORDER BY created_at_ms, job_id`,
  ofSession: `SELECT ${columns} FROM a2a_jobs WHERE session_id = ? ORDER BY created_at_ms DESC, job_id LIMIT ${listMax}`,
  all: `SELECT ${columns} FROM a2a_jobs WHERE 1 ORDER BY created_at_ms DESC, job_id LIMIT ${listMax}`,
  undelivered: `SELECT ${columns} FROM a2a_jobs WHERE state = 'finished' AND mode = 'background' AND delivered = 0 AND status NOT IN ('cancelled', 'stopped') ORDER BY finished_at_ms`,
  working: `SELECT count(*) AS n, coalesce(sum(depth = @depth), 0) AS level, coalesce(sum(turn_id = @turnId), 0) AS ofTurn
     FROM a2a_jobs WHERE state IN ('running', 'retrying')`,
  turnsOf: 'SELECT turn_id AS turnId FROM a2a_turns WHERE job_id = ? ORDER BY turn_id',
  turnsBelow: `WITH RECURSIVE below (turn_id) AS (
       SELECT turn_id FROM a2a_turns WHERE parent_turn_id = ? UNION SELECT t.turn_id FROM a2a_turns t JOIN below b ON t.parent_turn_id = b.turn_id
     ) SELECT turn_id AS turnId FROM below`,
  sessionsBelow: `WITH RECURSIVE below (session_id) AS (
       SELECT helper_session_id FROM a2a_jobs WHERE session_id = ? AND helper_session_id IS NOT NULL
       UNION SELECT j.helper_session_id FROM a2a_jobs j JOIN below b ON j.session_id = b.session_id WHERE j.helper_session_id IS NOT NULL
     ) SELECT session_id AS sessionId FROM below`,
};

export class HelperRows {
  readonly #sql: Statements;
  readonly #jobs: HeldRows;

  readonly apply = byType({
    'a2a.called': (event) => this.#put(event),
    'a2a.started': ({ body: { jobId, sessionId, turnId, attempt } }) => {
      this.#sql.run(statements.start, sessionId, turnId, attempt, jobId);
      this.#sql.run(statements.putTurn, turnId, jobId);
    },
    'a2a.retried': ({ body }) => void this.#sql.run("UPDATE a2a_jobs SET state = 'retrying' WHERE job_id = ?", body.jobId),
    'a2a.cancel_requested': ({ body }) => void this.#sql.run(statements.cancel, body.by, body.jobId),
    'a2a.finished': ({ body: { jobId, status, text, usage, costUsd }, atMs }) =>
      void this.#sql.run(statements.finish, status, text, JSON.stringify(usage), costUsd, atMs, jobId),
    'user.message': ({ body: { channel, dedupeKey } }) => {
      if (channel === ownChannels.helper && dedupeKey?.startsWith(deliveredPrefix) === true)
        this.#sql.run('UPDATE a2a_jobs SET delivered = 1 WHERE job_id = ?', dedupeKey.slice(deliveredPrefix.length));
    },
    'session.deleted': ({ body: { sessionId } }) => {
      this.#sql.run(statements.dropTurns, sessionId, sessionId);
      this.#sql.run('DELETE FROM a2a_jobs WHERE session_id = ? OR helper_session_id = ?', sessionId, sessionId);
    },
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.#jobs = new HeldRows(db, 'a2a_jobs');
  }

  job(jobId: string): HelperJob | null {
    return one(this.#sql.row(`SELECT ${columns} FROM a2a_jobs WHERE job_id = ?`, jobId));
  }

  byKey(idempotencyKey: string): HelperJob | null {
    return one(this.#sql.row(`SELECT ${columns} FROM a2a_jobs WHERE idempotency_key = ?`, idempotencyKey));
  }

  byHelperTurn(turnId: string): HelperJob | null {
    return this.#jobs.any ? one(this.#sql.row(statements.byHelperTurn, turnId)) : null;
  }

  /** All jobs that have not ended, oldest first. */
  open(): HelperJob[] {
    return many(this.#sql.rows(`SELECT ${columns} FROM a2a_jobs WHERE state <> 'finished' ORDER BY created_at_ms, job_id`));
  }

  queued(): HelperJob[] {
    return many(this.#sql.rows(`SELECT ${columns} FROM a2a_jobs WHERE state = 'queued' ORDER BY created_at_ms, job_id`));
  }

  openOfTurn(turnId: string): HelperJob[] {
    return this.#jobs.any ? many(this.#sql.rows(statements.openOfTurn, turnId)) : [];
  }

  /** Newest first, at most 1,000. */
  list(sessionId: string | null): HelperJob[] {
    return many(sessionId === null ? this.#sql.rows(statements.all) : this.#sql.rows(statements.ofSession, sessionId));
  }

  /** Background jobs that have ended and whose result has not been delivered to the calling session. */
  undelivered(): HelperJob[] {
    return many(this.#sql.rows(statements.undelivered));
  }

  /** The number of running jobs on a level, and of one turn. */
  working(depth: number, turnId: string): { readonly level: number; readonly ofTurn: number } {
    return this.#sql.row(statements.working, { depth, turnId }) as { level: number; ofTurn: number };
  }

  waiting(): number {
    return (this.#sql.row("SELECT count(*) AS n FROM a2a_jobs WHERE state = 'queued'") as { n: number }).n;
  }

  /** The turns of all attempts. */
  turnsOf(jobId: string): string[] {
    return this.#sql.rows<{ turnId: string }>(statements.turnsOf, jobId).map(({ turnId }) => turnId);
  }

  /** The turns of all subagents that a turn pays for, on all levels. */
  turnsBelow(turnId: string): string[] {
    return this.#sql.rows<{ turnId: string }>(statements.turnsBelow, turnId).map((row) => row.turnId);
  }

  sessionsBelow(sessionId: string): string[] {
    return this.#sql.rows<{ sessionId: string }>(statements.sessionsBelow, sessionId).map((row) => row.sessionId);
  }

  #put({ body, atMs }: EventOf<'a2a.called'>): void {
    const { jobId, idempotencyKey, from, depth, mode, deadlineMs } = body;
    this.#jobs.put();
    this.#sql.run(statements.put, jobId, idempotencyKey, from.sessionId, from.turnId, depth, mode, atMs, deadlineMs, JSON.stringify(body));
  }
}

function one(row: unknown): HelperJob | null {
  return row === undefined ? null : read(row as StoredJob);
}

function many(rows: readonly unknown[]): HelperJob[] {
  return rows.map((row) => read(row as StoredJob));
}

function read({ called, usage, status, ...row }: StoredJob): HelperJob {
  // The JSON was written from the parsed event in the transaction of its append.
  const body = JSON.parse(called) as EventBodies['a2a.called'];
  return {
    ...body,
    ...row,
    status: status === null ? null : helperEndSchema.parse(status),
    usage: usage === null ? null : usageSchema.parse(JSON.parse(usage)),
  };
}
