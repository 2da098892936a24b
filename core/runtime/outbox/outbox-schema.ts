// The tables of outbound messages and of chats. Every row can be rebuilt from the log, and is written together with its event.

import { sqlMigrations, type Migration } from '../../store/storage/storage.ts';

export const outboxMigrations: readonly Migration[] = sqlMigrations({
  'outbox-001-tables': `
    -- Ordered by the place of outbound.queued in the log: that is the order within a chat.
    CREATE TABLE IF NOT EXISTS outbound (
      seq INTEGER PRIMARY KEY,
      outbound_id TEXT NOT NULL UNIQUE,
      idempotency_key TEXT NOT NULL UNIQUE,
      channel TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      turn_id TEXT,
      kind TEXT NOT NULL,
      about_panic INTEGER NOT NULL,
      state TEXT NOT NULL,
      part INTEGER NOT NULL,
      parts INTEGER,
      attempt INTEGER NOT NULL,
      repeatable INTEGER NOT NULL,
      retry_at_ms INTEGER,
      reason TEXT,
      created_at_ms INTEGER NOT NULL,
      waits_since_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      item TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS outbound_open ON outbound (channel, chat_id, seq) WHERE state IN ('queued', 'sending');
    CREATE INDEX IF NOT EXISTS outbound_by_session ON outbound (session_id);
    CREATE INDEX IF NOT EXISTS outbound_by_turn ON outbound (turn_id) WHERE turn_id IS NOT NULL;
    CREATE TABLE IF NOT EXISTS outbound_parts (
      outbound_id TEXT NOT NULL, part INTEGER NOT NULL, message_id TEXT NOT NULL, PRIMARY KEY (outbound_id, part)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS outbound_parts_by_message ON outbound_parts (message_id);
    -- thread_id is empty where there is none: a key holds no NULL.
    CREATE TABLE IF NOT EXISTS chats (
      channel TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      thread_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      title TEXT NOT NULL,
      session_id TEXT,
      last_used_at_ms INTEGER NOT NULL,
      PRIMARY KEY (channel, chat_id, thread_id)
    ) STRICT, WITHOUT ROWID;
    -- The chat a session was last talked with in, also after that chat has gone on to another session.
    CREATE TABLE IF NOT EXISTS chat_sessions (
      session_id TEXT PRIMARY KEY, channel TEXT NOT NULL, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- Turns whose end is reported to a chat. state: open, ended (and not yet reported), told.
    CREATE TABLE IF NOT EXISTS chat_turns (
      turn_id TEXT PRIMARY KEY,
      session_id TEXT NOT NULL,
      channel TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      thread_id TEXT NOT NULL,
      message_id TEXT,
      state TEXT NOT NULL,
      ended_seq INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS chat_turns_ended ON chat_turns (ended_seq) WHERE state = 'ended';
    CREATE INDEX IF NOT EXISTS chat_turns_by_session ON chat_turns (session_id);
  `,
});
