// Dead letters as rows, kept in step with their events, and the cursor of the search for failures. The events are the source of truth.
// Makes no decision.

import { clockStepMs } from '../../base/clock.ts';
import type { DeadLetter } from '../../contracts/features/dead-letters.ts';
import { errorBodySchema } from '../../contracts/errors.ts';
import { byType } from '../../contracts/event-table.ts';
import type { EventBodies } from '../../contracts/events.ts';
import { LogCursor, Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const deadLetterMigrations: readonly Migration[] = sqlMigrations({
  'dead-letter-001-tables': `
    CREATE TABLE IF NOT EXISTS dead_letters (
      letter_id TEXT PRIMARY KEY,
      state TEXT NOT NULL,
      turn_id TEXT NOT NULL,
      by_turn_id TEXT,
      session_id TEXT NOT NULL,
      channel TEXT NOT NULL,
      nature TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      retry_at_ms INTEGER,
      why_left TEXT NOT NULL,
      reason TEXT NOT NULL,
      first_at_ms INTEGER NOT NULL,
      last_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS dead_letters_by_session ON dead_letters (session_id);
    CREATE INDEX IF NOT EXISTS dead_letters_due ON dead_letters (retry_at_ms) WHERE retry_at_ms IS NOT NULL;
    -- What failed before this was kept is not looked for.
    INSERT OR IGNORE INTO projection_cursors (name, seq) SELECT 'dead_letters', coalesce(max(seq), 0) FROM events;
  `,
});

const CURSOR = 'dead_letters';

interface Row extends Omit<DeadLetter, 'reason'> {
  readonly reason: string;
  readonly failedTurnId: string;
  readonly byTurnId: string | null;
}

/** A letter with the failed turn and, during a retry, the turn that retries it. */
export type KeptLetter = DeadLetter & Pick<Row, 'failedTurnId' | 'byTurnId'>;

const columns = `letter_id AS letterId, state, coalesce(by_turn_id, turn_id) AS turnId, turn_id AS failedTurnId, by_turn_id AS byTurnId,
  session_id AS sessionId, channel, nature, attempt, retry_at_ms AS retryAtMs, why_left AS "left", reason, first_at_ms AS firstAtMs,
  last_at_ms AS lastAtMs`;

const statements = {
  retry: "UPDATE dead_letters SET state = 'retrying', by_turn_id = ?, retry_at_ms = NULL, why_left = '' WHERE turn_id = ?",
  put: `INSERT INTO dead_letters (letter_id, state, turn_id, session_id, channel, nature, attempt, retry_at_ms, why_left, reason, first_at_ms, last_at_ms)
     VALUES (@letterId, @state, @turnId, @sessionId, @channel, @nature, @attempt, @retryAtMs, @left, @reason, @atMs, @atMs)
     ON CONFLICT (letter_id) DO UPDATE SET state = excluded.state, turn_id = excluded.turn_id, by_turn_id = NULL, nature = excluded.nature,
       attempt = excluded.attempt, retry_at_ms = excluded.retry_at_ms, why_left = excluded.why_left, reason = excluded.reason,
       last_at_ms = excluded.last_at_ms`,
  left: "UPDATE dead_letters SET state = 'left', retry_at_ms = NULL, why_left = ?, turn_id = coalesce(by_turn_id, turn_id), by_turn_id = NULL WHERE letter_id = ?",
  ofSession: `SELECT ${columns} FROM dead_letters WHERE session_id = ? ORDER BY first_at_ms, letter_id`,
  due: `SELECT ${columns} FROM dead_letters WHERE retry_at_ms IS NOT NULL AND (retry_at_ms <= @nowMs OR last_at_ms > @aheadMs) ORDER BY retry_at_ms LIMIT @limit`,
  nextDue: 'SELECT min(retry_at_ms) AS atMs FROM dead_letters WHERE retry_at_ms IS NOT NULL',
};

export class DeadLetterRows {
  readonly #sql: Statements;
  readonly cursor: LogCursor;

  readonly apply = byType({
    'dead_letter.captured': ({ body, atMs }) => this.#put(body, atMs),
    // Applied in the transaction that starts the retry, so a crash cannot cause a second retry.
    'turn.superseded': ({ body, turnId }) => turnId !== null && this.#retry(turnId, body.byTurnId),
    'dead_letter.retried': ({ body }) => this.#retry(body.turnId, body.byTurnId),
    'dead_letter.left': ({ body }) => void this.#sql.run(statements.left, body.why, body.letterId),
    'dead_letter.settled': ({ body }) => this.#drop(body.letterId),
    'dead_letter.cleared': ({ body }) => this.#drop(body.letterId),
    'session.deleted': ({ body }) => void this.#sql.run('DELETE FROM dead_letters WHERE session_id = ?', body.sessionId),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.cursor = new LogCursor(db, CURSOR);
  }

  letter(letterId: string): KeptLetter | null {
    return readRow(this.#sql.row(`SELECT ${columns} FROM dead_letters WHERE letter_id = ?`, letterId));
  }

  /** Newest first. */
  list(limit: number): KeptLetter[] {
    return this.#sql.rows(`SELECT ${columns} FROM dead_letters ORDER BY last_at_ms DESC, letter_id DESC LIMIT ?`, limit).flatMap(readRows);
  }

  ofSession(sessionId: string): KeptLetter[] {
    return this.#sql.rows(statements.ofSession, sessionId).flatMap(readRows);
  }

  /** A failure in the future was recorded while the clock was ahead, so it is due. */
  due(nowMs: number, limit: number): KeptLetter[] {
    return this.#sql.rows(statements.due, { nowMs, aheadMs: nowMs + clockStepMs, limit }).flatMap(readRows);
  }

  nextDueMs(): number | null {
    return (this.#sql.row(statements.nextDue) as { atMs: number | null }).atMs;
  }

  count(): number {
    return (this.#sql.row('SELECT count(*) AS n FROM dead_letters') as { n: number }).n;
  }

  /** The letter that has waited longest for a person. */
  oldestLeft(): KeptLetter | null {
    return readRow(this.#sql.row(`SELECT ${columns} FROM dead_letters WHERE state = 'left' ORDER BY last_at_ms, letter_id LIMIT 1`));
  }

  #retry(turnId: string, byTurnId: string): void {
    this.#sql.run(statements.retry, byTurnId, turnId);
  }

  #drop(letterId: string): void {
    this.#sql.run('DELETE FROM dead_letters WHERE letter_id = ?', letterId);
  }

  #put(body: EventBodies['dead_letter.captured'], atMs: number): void {
    const state = body.retryAtMs === null ? 'left' : 'waiting';
    this.#sql.run(statements.put, { ...body, state, reason: JSON.stringify(body.reason), atMs });
  }
}

function readRow(stored: unknown): KeptLetter | null {
  if (stored === undefined) return null;
  const row = stored as Row;
  return { ...row, reason: errorBodySchema.parse(JSON.parse(row.reason)) };
}

function readRows(stored: unknown): KeptLetter[] {
  const letter = readRow(stored);
  return letter === null ? [] : [letter];
}
