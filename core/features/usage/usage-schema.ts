// The tables of usage, and the views that define which figures of a call or turn count where. All of them can be rebuilt from the log.

import { sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const usageMigrations: readonly Migration[] = sqlMigrations({
  'telemetry-001-tables': `
        CREATE TABLE IF NOT EXISTS telemetry_cursor (
          id INTEGER PRIMARY KEY CHECK (id = 1), projected_seq INTEGER NOT NULL, reported_seq INTEGER NOT NULL
        ) STRICT;
        INSERT OR IGNORE INTO telemetry_cursor VALUES (1, 0, 0);
        CREATE TABLE IF NOT EXISTS telemetry_packs (
          pack_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, session_id TEXT NOT NULL, turn_id TEXT, at_ms INTEGER NOT NULL,
          tokens INTEGER NOT NULL, budget_tokens INTEGER NOT NULL, dropped INTEGER NOT NULL, truncated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- cost_usd is null where the price is unknown; billed is 0 for calls that got no answer to pay for.
        CREATE TABLE IF NOT EXISTS telemetry_model_calls (
          request_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, session_id TEXT NOT NULL, turn_id TEXT, pack_id TEXT NOT NULL,
          model TEXT NOT NULL, status TEXT NOT NULL, at_ms INTEGER NOT NULL, day TEXT NOT NULL, retries INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL,
          usage_reported INTEGER NOT NULL, billed INTEGER NOT NULL, cost_usd REAL, took_ms REAL, first_token_ms REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_time ON telemetry_model_calls (at_ms);
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_session ON telemetry_model_calls (session_id);
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_turn ON telemetry_model_calls (turn_id);
        CREATE TABLE IF NOT EXISTS telemetry_turns (
          turn_id TEXT PRIMARY KEY, seq INTEGER NOT NULL, session_id TEXT NOT NULL, status TEXT NOT NULL, started_at_ms INTEGER NOT NULL,
          day TEXT NOT NULL, finished_at_ms INTEGER, model_calls INTEGER NOT NULL, tool_calls INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cost_usd REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS telemetry_turns_by_start ON telemetry_turns (started_at_ms);
        CREATE TABLE IF NOT EXISTS telemetry_deleted_sessions (session_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`,
  'telemetry-002-usage': `
        CREATE TABLE IF NOT EXISTS telemetry_usage (
          by TEXT NOT NULL, day TEXT NOT NULL, key TEXT NOT NULL, turns INTEGER NOT NULL, calls INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
          priced_calls INTEGER NOT NULL, unknown_cost_calls INTEGER NOT NULL, took TEXT NOT NULL, first_token TEXT NOT NULL,
          PRIMARY KEY (by, day, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telemetry_usage_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), rolled_seq INTEGER NOT NULL) STRICT;`,
  'telemetry-003-packs': `
        CREATE INDEX IF NOT EXISTS telemetry_packs_by_seq ON telemetry_packs (seq);
        CREATE INDEX IF NOT EXISTS telemetry_packs_by_session ON telemetry_packs (session_id, seq);`,
  'usage-001-in-step': (db) => {
    db.exec(views);
    rebuildSums(db);
    // Removes the sums of an earlier version. If that version runs again, it rebuilds them.
    db.exec('DELETE FROM telemetry_usage; DELETE FROM telemetry_usage_cursor');
  },
});

const bucketOf = (column: string): string =>
  `CASE WHEN status <> 'finished' OR ${column} IS NULL THEN NULL WHEN ${column} < 1 THEN 0 ELSE 1 + CAST(ln(${column}) / ln(1.1) AS INTEGER) END`;

/**
 * A call is counted when it has ended: for its day, its model and its session. A turn is counted where it began, and for a model with its
 * first call.
 */
const views = `
  -- Sums by day: of the day itself, of a model, of a session. cost_usd sums the known costs.
  CREATE TABLE IF NOT EXISTS usage_sums (
    by TEXT NOT NULL, day TEXT NOT NULL, key TEXT NOT NULL, turns INTEGER NOT NULL, calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cached_input_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
    priced_calls INTEGER NOT NULL, unknown_cost_calls INTEGER NOT NULL, PRIMARY KEY (by, day, key)
  ) STRICT, WITHOUT ROWID;
  -- How long finished calls took, counted in buckets that grow by a tenth: small to keep, and percentiles within 5 %.
  CREATE TABLE IF NOT EXISTS usage_latencies (
    by TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL, what TEXT NOT NULL, bucket INTEGER NOT NULL, calls INTEGER NOT NULL,
    PRIMARY KEY (by, key, day, what, bucket)
  ) STRICT, WITHOUT ROWID;
  CREATE VIEW IF NOT EXISTS usage_calls AS
    SELECT by, day, CASE by WHEN 'day' THEN day WHEN 'model' THEN model ELSE session_id END AS key, request_id,
      by = 'model' AND turn_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM telemetry_model_calls e
        WHERE e.turn_id = c.turn_id AND e.model = c.model AND e.status <> 'requested' AND e.seq < c.seq) AS turns,
      1 AS calls, input_tokens, output_tokens, cached_input_tokens, coalesce(cost_usd, 0) AS cost_usd,
      cost_usd IS NOT NULL AS priced_calls, cost_usd IS NULL AND billed = 1 AS unknown_cost_calls,
      ${bucketOf('took_ms')} AS took, ${bucketOf('first_token_ms')} AS first_token
    FROM telemetry_model_calls c CROSS JOIN (SELECT 'day' AS by UNION ALL SELECT 'model' UNION ALL SELECT 'session')
    WHERE status <> 'requested';
  CREATE VIEW IF NOT EXISTS usage_turns AS
    SELECT by, day, CASE by WHEN 'day' THEN day ELSE session_id END AS key, turn_id, 1 AS turns, 0 AS calls, 0 AS input_tokens,
      0 AS output_tokens, 0 AS cached_input_tokens, 0 AS cost_usd, 0 AS priced_calls, 0 AS unknown_cost_calls
    FROM telemetry_turns CROSS JOIN (SELECT 'day' AS by UNION ALL SELECT 'session');`;

const added = ['calls', 'input_tokens', 'output_tokens', 'cached_input_tokens', 'cost_usd', 'priced_calls', 'unknown_cost_calls'];
const summed = (term: (column: string) => string): string => ['turns', ...added].map(term).join(', ');

/** Adds the figures that a view gives for these ids to the sums; `sign` -1 subtracts them. `turns` is 0 if the turn is already counted. */
export function addUp(view: 'usage_calls' | 'usage_turns', id: 'request_id' | 'turn_id'): string {
  return `INSERT INTO usage_sums SELECT by, day, key, @turns * sum(turns), ${added.map((column) => `@sign * sum(${column})`).join(', ')}
    FROM ${view} WHERE ${id} IN (SELECT value FROM json_each(@ids)) GROUP BY by, day, key
    ON CONFLICT DO UPDATE SET ${summed((column) => `${column} = usage_sums.${column} + excluded.${column}`)}`;
}

export function addLatency(what: 'took' | 'first_token'): string {
  return `INSERT INTO usage_latencies SELECT by, key, day, '${what}', ${what}, @sign * count(*)
    FROM usage_calls WHERE request_id IN (SELECT value FROM json_each(@ids)) AND ${what} IS NOT NULL GROUP BY by, key, day, ${what}
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls`;
}

/** Rebuilds the sums from the calls and the turns. */
export function rebuildSums(db: SqlDatabase): void {
  const columns = `by, day, key, ${summed((column) => column)}`;
  const latencies = (what: string): string =>
    `INSERT INTO usage_latencies SELECT by, key, day, '${what}', ${what}, count(*) FROM usage_calls WHERE ${what} IS NOT NULL
     GROUP BY by, key, day, ${what};`;
  db.exec(`
    DELETE FROM usage_sums;
    DELETE FROM usage_latencies;
    INSERT INTO usage_sums SELECT by, day, key, ${summed((column) => `sum(${column})`)}
    FROM (SELECT ${columns} FROM usage_calls UNION ALL SELECT ${columns} FROM usage_turns) GROUP BY by, day, key;
    ${latencies('took')} ${latencies('first_token')}`);
}
