// The tables of the telemetry projection. Everything in them can be made again from the event log.

import type Database from 'better-sqlite3';

/** Structurally the Migration of store/storage; modules of one floor do not import each other. */
interface Migration {
  readonly id: string;
  readonly minSafeVersion: number;
  up(db: Database.Database): void;
}

export const telemetryMigrations: readonly Migration[] = [
  {
    id: 'telemetry-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        -- projected_seq: last event projected. reported_seq: last event whose rows went to the sinks; survives a rebuild.
        CREATE TABLE IF NOT EXISTS telemetry_cursor (
          id INTEGER PRIMARY KEY CHECK (id = 1),
          projected_seq INTEGER NOT NULL,
          reported_seq INTEGER NOT NULL
        ) STRICT;
        INSERT OR IGNORE INTO telemetry_cursor VALUES (1, 0, 0);
        CREATE TABLE IF NOT EXISTS telemetry_packs (
          pack_id TEXT PRIMARY KEY,
          seq INTEGER NOT NULL,
          session_id TEXT NOT NULL,
          turn_id TEXT,
          at_ms INTEGER NOT NULL,
          tokens INTEGER NOT NULL,
          budget_tokens INTEGER NOT NULL,
          dropped INTEGER NOT NULL,
          truncated INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- cost_usd is null where the price is unknown; billed is 0 for calls that got no answer to pay for.
        CREATE TABLE IF NOT EXISTS telemetry_model_calls (
          request_id TEXT PRIMARY KEY,
          seq INTEGER NOT NULL,
          session_id TEXT NOT NULL,
          turn_id TEXT,
          pack_id TEXT NOT NULL,
          model TEXT NOT NULL,
          status TEXT NOT NULL,
          at_ms INTEGER NOT NULL,
          day TEXT NOT NULL,
          retries INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL,
          output_tokens INTEGER NOT NULL,
          cached_input_tokens INTEGER NOT NULL,
          usage_reported INTEGER NOT NULL,
          billed INTEGER NOT NULL,
          cost_usd REAL,
          took_ms REAL,
          first_token_ms REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_time ON telemetry_model_calls (at_ms);
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_session ON telemetry_model_calls (session_id);
        CREATE INDEX IF NOT EXISTS telemetry_model_calls_by_turn ON telemetry_model_calls (turn_id);
        CREATE TABLE IF NOT EXISTS telemetry_turns (
          turn_id TEXT PRIMARY KEY,
          seq INTEGER NOT NULL,
          session_id TEXT NOT NULL,
          status TEXT NOT NULL,
          started_at_ms INTEGER NOT NULL,
          day TEXT NOT NULL,
          finished_at_ms INTEGER,
          model_calls INTEGER NOT NULL,
          tool_calls INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL,
          output_tokens INTEGER NOT NULL,
          cached_input_tokens INTEGER NOT NULL,
          cost_usd REAL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS telemetry_turns_by_start ON telemetry_turns (started_at_ms);
        -- Their events are gone, so a rebuild keeps their rows: what was spent stays spent.
        CREATE TABLE IF NOT EXISTS telemetry_deleted_sessions (session_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`);
    },
  },
  {
    id: 'telemetry-002-usage',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        -- One row a day, a model and day, a session and day. cost_usd sums the known costs, of priced_calls calls; took and first_token
        -- are counts in buckets, as JSON. Filled when telemetry is first asked, and again after a program that did not know them.
        CREATE TABLE IF NOT EXISTS telemetry_usage (
          by TEXT NOT NULL,
          day TEXT NOT NULL,
          key TEXT NOT NULL,
          turns INTEGER NOT NULL,
          calls INTEGER NOT NULL,
          input_tokens INTEGER NOT NULL,
          output_tokens INTEGER NOT NULL,
          cached_input_tokens INTEGER NOT NULL,
          cost_usd REAL NOT NULL,
          priced_calls INTEGER NOT NULL,
          unknown_cost_calls INTEGER NOT NULL,
          took TEXT NOT NULL,
          first_token TEXT NOT NULL,
          PRIMARY KEY (by, day, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telemetry_usage_cursor (id INTEGER PRIMARY KEY CHECK (id = 1), rolled_seq INTEGER NOT NULL) STRICT;`);
    },
  },
  {
    id: 'telemetry-003-packs',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE INDEX IF NOT EXISTS telemetry_packs_by_seq ON telemetry_packs (seq);
        CREATE INDEX IF NOT EXISTS telemetry_packs_by_session ON telemetry_packs (session_id, seq);`);
    },
  },
];
