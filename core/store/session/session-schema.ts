// Tables of the event log and of the rows kept in step with it in the same transaction.

import type { Migration } from '../storage/storage.ts';

export const sessionMigrations: readonly Migration[] = [
  {
    id: '0001-session-log',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
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
      `);
    },
  },
  {
    id: '0002-session-search',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE VIRTUAL TABLE IF NOT EXISTS session_text USING fts5 (body, session_id UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');
        CREATE TABLE IF NOT EXISTS projection_cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      `);
    },
  },
  {
    id: '0002-session-settings',
    minSafeVersion: 1,
    up: (db) => {
      const columns = db.pragma('table_info(sessions)') as { name: string }[];
      const add = (name: string, form: string): void => {
        if (!columns.some((column) => column.name === name)) db.exec(`ALTER TABLE sessions ADD COLUMN ${name} ${form}`);
      };
      add('pinned', 'INTEGER NOT NULL DEFAULT 0');
      add('model', 'TEXT');
      add('seen_seq', 'INTEGER NOT NULL DEFAULT 0');
      // Sessions from before this column count as read.
      add('unread', 'INTEGER NOT NULL DEFAULT 0');
    },
  },
  {
    id: '0003-activity-search',
    minSafeVersion: 1,
    up: (db) => {
      // The index does not store the text, which is already in the log.
      db.exec(`
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
      `);
    },
  },
  {
    id: '0003-log-head',
    minSafeVersion: 1,
    up: (db) => {
      // Records that a head file exists from this event on, so that a missing file is noticed.
      db.exec(`
        CREATE TABLE IF NOT EXISTS log_head (
          id INTEGER PRIMARY KEY CHECK (id = 1), database_id TEXT NOT NULL, since_seq INTEGER NOT NULL
        ) STRICT;
      `);
    },
  },
  {
    id: '0003-own-workspace',
    minSafeVersion: 1,
    up: (db) => {
      const columns = db.pragma('table_info(sessions)') as { name: string }[];
      if (!columns.some(({ name }) => name === 'workspace')) db.exec('ALTER TABLE sessions ADD COLUMN workspace TEXT');
    },
  },
  {
    id: '0004-plan-first',
    minSafeVersion: 1,
    up: (db) => {
      const columns = db.pragma('table_info(sessions)') as { name: string }[];
      if (!columns.some(({ name }) => name === 'plan_first')) db.exec('ALTER TABLE sessions ADD COLUMN plan_first TEXT');
    },
  },
  {
    id: '0005-session-order',
    minSafeVersion: 1,
    up: (db) => {
      // Lets a page of the list be read in order, however many sessions there are.
      db.exec('CREATE INDEX IF NOT EXISTS sessions_in_order ON sessions (archived, pinned, updated_at_ms)');
    },
  },
];
