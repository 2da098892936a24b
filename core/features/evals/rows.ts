// Which runs there are, kept in step with the log, and the cache of answers and judgements. The cache can be deleted at any time: it only saves
// requests.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const evalMigrations: readonly Migration[] = [
  {
    id: 'eval-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS eval_runs (run_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, started_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS eval_cache (key TEXT PRIMARY KEY, body TEXT NOT NULL, used_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `);
    },
  },
];

export interface EvalRunRow {
  readonly runId: string;
  readonly sessionId: string;
  readonly startedAtMs: number;
}

/** Older entries go first. */
const CACHED_MAX = 50_000;

function prepareAll(db: SqlDatabase) {
  const columns = 'run_id AS runId, session_id AS sessionId, started_at_ms AS startedAtMs FROM eval_runs';
  return {
    put: db.prepare('INSERT OR IGNORE INTO eval_runs (run_id, session_id, started_at_ms) VALUES (?, ?, ?)'),
    drop: db.prepare('DELETE FROM eval_runs WHERE session_id = ?'),
    one: db.prepare(`SELECT ${columns} WHERE run_id = ?`),
    newest: db.prepare(`SELECT ${columns} ORDER BY started_at_ms DESC, run_id DESC LIMIT ?`),
    cached: db.prepare('SELECT body FROM eval_cache WHERE key = ?').pluck(),
    cache: db.prepare('INSERT OR REPLACE INTO eval_cache (key, body, used_at_ms) VALUES (?, ?, ?)'),
    prune: db.prepare(
      `DELETE FROM eval_cache WHERE key IN (SELECT key FROM eval_cache ORDER BY used_at_ms DESC LIMIT -1 OFFSET ${CACHED_MAX})`,
    ),
  };
}

export class EvalRows {
  readonly #db: SqlDatabase;
  #sql: ReturnType<typeof prepareAll> | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  apply(event: AnyEvent): void {
    if (event.type === 'eval.started') this.#statements.put.run(event.body.runId, event.sessionId, event.atMs);
    else if (event.type === 'session.deleted') this.#statements.drop.run(event.body.sessionId);
  }

  run(runId: string): EvalRunRow | null {
    return (this.#statements.one.get(runId) as EvalRunRow | undefined) ?? null;
  }

  newest(limit: number): EvalRunRow[] {
    return this.#statements.newest.all(limit) as EvalRunRow[];
  }

  cached(key: string): string | null {
    return (this.#statements.cached.get(key) as string | undefined) ?? null;
  }

  cache(key: string, body: string, nowMs: number): void {
    this.#statements.cache.run(key, body, nowMs);
  }

  prune(): void {
    this.#statements.prune.run();
  }

  get #statements(): ReturnType<typeof prepareAll> {
    return (this.#sql ??= prepareAll(this.#db));
  }
}
