// The list of runs, kept in step with the log, and the cache of answers and judgements. The cache only saves requests and can be deleted at
// any time.

import type { AnyEvent } from '../../contracts/events.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const evalMigrations: readonly Migration[] = sqlMigrations({
  'eval-001-tables': `
    CREATE TABLE IF NOT EXISTS eval_runs (run_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, started_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS eval_cache (key TEXT PRIMARY KEY, body TEXT NOT NULL, used_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
});

export interface EvalRunRow {
  readonly runId: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
}

/** Older entries are evicted first. */
const CACHED_MAX = 50_000;

const columns = 'run_id AS runId, session_id AS sessionId, started_at_ms AS startedAtMs FROM eval_runs';

const statements = {
  put: 'INSERT OR IGNORE INTO eval_runs (run_id, session_id, started_at_ms) VALUES (?, ?, ?)',
  prune: `DELETE FROM eval_cache WHERE key IN (SELECT key FROM eval_cache ORDER BY used_at_ms DESC LIMIT -1 OFFSET ${CACHED_MAX})`,
};

export class EvalRows {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  apply(event: AnyEvent): void {
    if (event.type === 'eval.started') this.#sql.run(statements.put, event.body.runId, event.sessionId, event.atMs);
    else if (event.type === 'session.deleted') this.#sql.run('DELETE FROM eval_runs WHERE session_id = ?', event.body.sessionId);
  }

  run(runId: string): EvalRunRow | null {
    return this.#sql.row<EvalRunRow>(`SELECT ${columns} WHERE run_id = ?`, runId) ?? null;
  }

  newest(limit: number): EvalRunRow[] {
    return this.#sql.rows<EvalRunRow>(`SELECT ${columns} ORDER BY started_at_ms DESC, run_id DESC LIMIT ?`, limit);
  }

  cached(key: string): string | null {
    return this.#sql.value<string>('SELECT body FROM eval_cache WHERE key = ?', key) ?? null;
  }

  cache(key: string, body: string, nowMs: number): void {
    this.#sql.run('INSERT OR REPLACE INTO eval_cache (key, body, used_at_ms) VALUES (?, ?, ?)', key, body, nowMs);
  }

  prune(): void {
    this.#sql.run(statements.prune);
  }
}
