// The tables of memories, which are derived from the log, and their full-text index.

import { wordIndexForm, sqlMigrations, type Migration } from '../../../store/storage/storage.ts';

export const memoryMigrations: readonly Migration[] = sqlMigrations({
  'memory-001-tables': `
    -- text_key tells the same thing said in other letters; embedded: its vector is in the index.
    CREATE TABLE IF NOT EXISTS memories (
      row INTEGER PRIMARY KEY, memory_id TEXT NOT NULL UNIQUE, state TEXT NOT NULL, kind TEXT NOT NULL, scope TEXT NOT NULL,
      text TEXT NOT NULL, text_key TEXT NOT NULL, importance REAL NOT NULL, pinned INTEGER NOT NULL, created_at_ms INTEGER NOT NULL,
      used_at_ms INTEGER NOT NULL, uses INTEGER NOT NULL DEFAULT 0, rule TEXT, origin TEXT NOT NULL, untrusted TEXT NOT NULL,
      embedded INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX IF NOT EXISTS memories_by_key ON memories (text_key);
    CREATE INDEX IF NOT EXISTS memories_by_state ON memories (state, created_at_ms);
    CREATE INDEX IF NOT EXISTS memories_by_scope ON memories (scope, used_at_ms);
    CREATE INDEX IF NOT EXISTS memories_pinned ON memories (scope) WHERE pinned = 1;
    CREATE INDEX IF NOT EXISTS memories_waiting ON memories (row) WHERE embedded = 0;
    -- The conversations in which one was brought up.
    CREATE TABLE IF NOT EXISTS memory_seen (
      memory_id TEXT NOT NULL, session_id TEXT NOT NULL, PRIMARY KEY (memory_id, session_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS memory_contradictions (
      memory_id TEXT NOT NULL, other_id TEXT NOT NULL, reason TEXT NOT NULL, at_ms INTEGER NOT NULL, PRIMARY KEY (memory_id, other_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS memory_contradictions_other ON memory_contradictions (other_id);
    -- Up to where turns were looked through.
    CREATE TABLE IF NOT EXISTS memory_cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE VIRTUAL TABLE IF NOT EXISTS memory_text USING fts5 (title, body, ${wordIndexForm});
  `,
});
