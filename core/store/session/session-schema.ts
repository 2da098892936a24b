// Tables of the event log and of the rows kept in step with it in the same transaction.

import { sqlMigrations, type Migration } from '../storage/storage.ts';

export const sessionMigrations: readonly Migration[] = sqlMigrations({
  '0001-session-log': `
        CREATE TABLE IF NOT EXISTS events (
          seq INTEGER PRIMARY KEY,
          session_id TEXT NOT NULL,
          session_seq INTEGER NOT NULL,
          turn_id TEXT,
          step INTEGER NOT NULL,
          phase TEXT,
          type TEXT NOT NULL,
          v INTEGER NOT NULL,
          at_ms INTEGER NOT NULL,
          body TEXT NOT NULL,
          hash BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX IF NOT EXISTS events_by_session ON events (session_id, session_seq);
        CREATE TABLE IF NOT EXISTS heads (
          session_id TEXT PRIMARY KEY,
          session_seq INTEGER NOT NULL,
          hash BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS sessions (
          session_id TEXT PRIMARY KEY,
          title TEXT NOT NULL,
          agent_id TEXT NOT NULL,
          channel TEXT NOT NULL,
          archived INTEGER NOT NULL DEFAULT 0,
          created_at_ms INTEGER NOT NULL,
          updated_at_ms INTEGER NOT NULL,
          last_text TEXT NOT NULL DEFAULT '',
          last_turn_id TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS turns (
          turn_id TEXT PRIMARY KEY,
          session_id TEXT NOT NULL,
          status TEXT NOT NULL,
          first_seq INTEGER NOT NULL,
          at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS turns_open ON turns (status) WHERE status IN ('queued', 'running', 'waiting');
        CREATE TABLE IF NOT EXISTS tool_calls (
          call_id TEXT PRIMARY KEY,
          session_id TEXT NOT NULL,
          turn_id TEXT,
          tool TEXT NOT NULL,
          state TEXT NOT NULL,
          idempotency TEXT NOT NULL,
          requested_seq INTEGER NOT NULL,
          finished_seq INTEGER,
          pid INTEGER,
          start_time TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS tool_calls_open ON tool_calls (state) WHERE state IN ('requested', 'unknown');
        CREATE TABLE IF NOT EXISTS inbound (
          channel TEXT NOT NULL,
          dedupe_key TEXT NOT NULL,
          session_id TEXT NOT NULL,
          turn_id TEXT NOT NULL,
          PRIMARY KEY (channel, dedupe_key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS quarantine (
          seq INTEGER PRIMARY KEY,
          reason TEXT NOT NULL,
          found_at_ms INTEGER NOT NULL
        ) STRICT;
      `,
  '0002-session-search': `
        CREATE VIRTUAL TABLE IF NOT EXISTS session_text USING fts5 (body, session_id UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
        CREATE TABLE IF NOT EXISTS projection_cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `,
  '0002-session-settings': addColumns({
    pinned: 'INTEGER NOT NULL DEFAULT 0',
    model: 'TEXT',
    seen_seq: 'INTEGER NOT NULL DEFAULT 0',
    // Sessions from before this column count as read.
    unread: 'INTEGER NOT NULL DEFAULT 0',
  }),
  // The index does not store the text, which is already in the log.
  '0003-activity-search': `
        CREATE TABLE IF NOT EXISTS activity (
          seq INTEGER PRIMARY KEY,
          session_id TEXT NOT NULL,
          turn_id TEXT,
          at_ms INTEGER NOT NULL,
          type TEXT NOT NULL,
          kind TEXT NOT NULL,
          tool TEXT,
          outcome TEXT
        ) STRICT;
        CREATE INDEX IF NOT EXISTS activity_by_session ON activity (session_id, seq);
        CREATE VIRTUAL TABLE IF NOT EXISTS activity_text
          USING fts5 (body, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');
      `,
  // Records that a head file exists from this event on, so that a missing file is noticed.
  '0003-log-head': `
        CREATE TABLE IF NOT EXISTS log_head (
          id INTEGER PRIMARY KEY CHECK (id = 1), database_id TEXT NOT NULL, since_seq INTEGER NOT NULL
        ) STRICT;
      `,
  '0003-own-workspace': addColumns({ workspace: 'TEXT' }),
  '0004-plan-first': addColumns({ plan_first: 'TEXT' }),
  // Lets a page of the list be read in order, however many sessions there are.
  '0005-session-order': 'CREATE INDEX IF NOT EXISTS sessions_in_order ON sessions (archived, pinned, updated_at_ms)',
});

/** Adds the columns that the list of sessions does not have yet. */
function addColumns(forms: Readonly<Record<string, string>>): Migration['up'] {
  return (db) => {
    const known = db.pragma('table_info(sessions)') as { name: string }[];
    for (const [name, form] of Object.entries(forms))
      if (!known.some((column) => column.name === name)) db.exec(`ALTER TABLE sessions ADD COLUMN ${name} ${form}`);
  };
}
