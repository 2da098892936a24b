// The rows of the Telegram bot: when each token was last polled, and by which run of the program. Not derived from events. Everything else
// about the bot is in the rows of all chat services.

import { heldMessageSchema, type HeldMessage } from '../../contracts/features/telegram.ts';
import { Statements, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const telegramMigrations: readonly Migration[] = [
  {
    id: 'telegram-001',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS telegram_offsets (
          bot_id TEXT PRIMARY KEY, next_offset INTEGER NOT NULL, taken_at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_leases (token_hash TEXT PRIMARY KEY, holder TEXT NOT NULL, polled_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_people (
          user_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, name TEXT NOT NULL, paired_at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_pairings (
          pairing_id TEXT PRIMARY KEY, code_hash TEXT NOT NULL, expires_at_ms INTEGER NOT NULL, user_id TEXT, chat_id TEXT, name TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_held (
          bot_id TEXT NOT NULL, update_id INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (bot_id, update_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_questions (
          approval_id TEXT NOT NULL, user_id TEXT NOT NULL, chat_id TEXT NOT NULL, nonce TEXT NOT NULL UNIQUE, outbound_id TEXT NOT NULL,
          asked_at_ms INTEGER NOT NULL, message_id TEXT, closed INTEGER NOT NULL,
          asks INTEGER NOT NULL DEFAULT 1, lost INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (approval_id, user_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS telegram_questions_open ON telegram_questions (approval_id) WHERE closed = 0;
        CREATE TABLE IF NOT EXISTS telegram_previews (turn_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, message_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS telegram_pause (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), paused INTEGER NOT NULL) STRICT;
      `);
    },
  },
  // An earlier version of the program would find no paired people, and would not know which updates it has handled.
  {
    id: 'telegram-002',
    minSafeVersion: 2,
    up: (db) => {
      moveRows(db);
      moveHeld(db);
      for (const name of ['offsets', 'people', 'pairings', 'held', 'questions', 'previews', 'pause'])
        db.exec(`DROP TABLE telegram_${name}`);
    },
  },
];

/** Moves the rows to the tables of all chat services. */
function moveRows(db: SqlDatabase): void {
  db.exec(`
    INSERT OR IGNORE INTO channel_people (channel, user_id, chat_id, name, paired_at_ms)
      SELECT 'telegram', user_id, chat_id, name, paired_at_ms FROM telegram_people;
    INSERT OR IGNORE INTO channel_pairings (pairing_id, channel, code_hash, expires_at_ms, user_id, chat_id, name)
      SELECT pairing_id, 'telegram', code_hash, expires_at_ms, user_id, chat_id, name FROM telegram_pairings;
    INSERT OR IGNORE INTO channel_questions (channel, approval_id, user_id, chat_id, nonce, outbound_id, asked_at_ms, message_id, closed, asks, lost)
      SELECT 'telegram', approval_id, user_id, chat_id, nonce, outbound_id, asked_at_ms, message_id, closed, asks, lost FROM telegram_questions;
    INSERT OR IGNORE INTO channel_previews (channel, turn_id, chat_id, message_id)
      SELECT 'telegram', turn_id, chat_id, message_id FROM telegram_previews;
    INSERT OR IGNORE INTO channel_notes (channel, note, value)
      SELECT 'telegram', 'offset:' || bot_id, json_object('next', next_offset, 'atMs', taken_at_ms) FROM telegram_offsets;
    INSERT OR IGNORE INTO channel_pauses (channel) SELECT 'telegram' FROM telegram_pause WHERE paused = 1;
  `);
}

/** Moves messages whose files are not fetched yet, and commands that are not answered yet. */
function moveHeld(db: SqlDatabase): void {
  const take = db.prepare("INSERT OR IGNORE INTO channel_taken (channel, key, at_ms, command) VALUES ('telegram', ?, ?, ?)");
  const hold = db.prepare("INSERT OR IGNORE INTO channel_held (channel, key, body) VALUES ('telegram', ?, ?)");
  const rows = db.prepare('SELECT body FROM telegram_held ORDER BY bot_id, update_id').all() as { body: string }[];
  for (const { body } of rows) {
    const message = heldMessageSchema.parse(JSON.parse(body));
    const key = `${message.botId}:${message.updateId}`;
    take.run(key, message.atMs, message.command === true ? JSON.stringify(commandOf(message)) : null);
    if (message.command !== true) hold.run(key, JSON.stringify(inboundOf(message)));
  }
}

const commandOf = ({ senderId: userId, chatId, messageId, text }: HeldMessage) => ({
  userId,
  chatId,
  messageId,
  text: text.slice(0, 2_000),
});

function inboundOf({ botId: _bot, updateId: _update, files, replyTo, forwardedFrom, ...rest }: HeldMessage) {
  const { messageId = null, ...answered } = replyTo ?? {};
  return {
    ...rest,
    files: files.map(({ fileId: ref, ...file }) => ({ ref, ...file })),
    ...(replyTo === null ? {} : { replyTo: { ...answered, ...(messageId === null ? {} : { messageId }) } }),
    ...(forwardedFrom === null ? {} : { forwardedFrom }),
  };
}

export class PollLeases {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  lease(tokenHash: string): { readonly holder: string; readonly polledAtMs: number } | null {
    const query = 'SELECT holder, polled_at_ms AS polledAtMs FROM telegram_leases WHERE token_hash = ?';
    return this.#sql.row<{ holder: string; polledAtMs: number }>(query, tokenHash) ?? null;
  }

  holdLease(tokenHash: string, holder: string, polledAtMs: number): void {
    this.#sql.run(
      'INSERT OR REPLACE INTO telegram_leases (token_hash, holder, polled_at_ms) VALUES (?, ?, ?)',
      tokenHash,
      holder,
      polledAtMs,
    );
  }
}
