// The rows of the Telegram bot, kept in step with its events in the transaction of the append: paired people, confirmed updates, messages
// with pending files, sent approvals. Decides nothing; only the lease is not an event.

import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyDraft, AnyEvent, EventBodies } from '../../contracts/events.ts';
import { heldMessageSchema, type HeldMessage, type TelegramPerson } from '../../contracts/features/telegram.ts';
import type { ChatRecords, PairingRow, QuestionRow } from '../../runtime/chats/chats.ts';
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
];

/** After a week without updates the server may restart its numbering lower; it has dropped the confirmed updates by then. */
const RENUMBERED_MS = 6 * 86_400_000;

/** The events of the shared parts, under the names they have had from the start. */
export const telegramRecords: ChatRecords = {
  offered: (body) => ({ type: 'telegram.pairing_offered', body }),
  claimed: (body) => ({ type: 'telegram.pairing_claimed', body }),
  ended: (body) => ({ type: 'telegram.pairing_ended', body }),
  paired: (body) => ({ type: 'telegram.paired', body }),
  revoked: (body) => ({ type: 'telegram.revoked', body }),
  asked: (body) => ({ type: 'telegram.asked', body }),
  closed: (body) => ({ type: 'telegram.question_closed', body }),
  previewed: (body) => ({ type: 'telegram.preview_sent', body }),
};

export const runRecords = {
  paused: (body: EventBodies['telegram.paused']): AnyDraft => ({ type: 'telegram.paused', body }),
  resumed: (body: EventBodies['telegram.resumed']): AnyDraft => ({ type: 'telegram.resumed', body }),
  stateChanged: (body: EventBodies['telegram.state_changed']): AnyDraft => ({ type: 'telegram.state_changed', body }),
};

export const telegramNames = {
  channel: 'telegram',
  title: 'Telegram',
  pairCommand: 'trayclaw telegram pair',
  listCommand: 'trayclaw telegram list',
} as const;

const questionColumns =
  'approval_id AS approvalId, user_id AS userId, chat_id AS chatId, nonce, outbound_id AS outboundId, asked_at_ms AS askedAtMs, message_id AS messageId, closed, asks, lost';
const personColumns = 'user_id AS userId, chat_id AS chatId, name, paired_at_ms AS pairedAtMs';
const pairingColumns =
  'pairing_id AS pairingId, code_hash AS codeHash, expires_at_ms AS expiresAtMs, user_id AS userId, chat_id AS chatId, name';

const statements = {
  offset: 'SELECT next_offset AS offset, taken_at_ms AS takenAtMs FROM telegram_offsets WHERE bot_id = ?',
  // Never decreases, or handled updates would be handled again; but see RENUMBERED_MS.
  putOffset: `INSERT INTO telegram_offsets (bot_id, next_offset, taken_at_ms) VALUES (?, ?, ?) ON CONFLICT (bot_id) DO UPDATE SET
     next_offset = iif(excluded.taken_at_ms - taken_at_ms > ${RENUMBERED_MS}, excluded.next_offset, max(next_offset, excluded.next_offset)),
     taken_at_ms = excluded.taken_at_ms`,
  lease: 'SELECT holder, polled_at_ms AS polledAtMs FROM telegram_leases WHERE token_hash = ?',
  putLease: 'INSERT OR REPLACE INTO telegram_leases (token_hash, holder, polled_at_ms) VALUES (?, ?, ?)',
  putPerson: 'INSERT OR REPLACE INTO telegram_people (user_id, chat_id, name, paired_at_ms) VALUES (?, ?, ?, ?)',
  offerPairing: 'INSERT OR REPLACE INTO telegram_pairings (pairing_id, code_hash, expires_at_ms) VALUES (?, ?, ?)',
  claimPairing: 'UPDATE telegram_pairings SET user_id = ?, chat_id = ?, name = ? WHERE pairing_id = ?',
  dropPairing: 'DELETE FROM telegram_pairings WHERE pairing_id = ?',
  held: 'SELECT body FROM telegram_held ORDER BY bot_id, update_id',
  hold: 'INSERT OR REPLACE INTO telegram_held (bot_id, update_id, body) VALUES (?, ?, ?)',
  release: 'DELETE FROM telegram_held WHERE bot_id = ? AND update_id = ?',
  ask: `INSERT INTO telegram_questions (approval_id, user_id, chat_id, nonce, outbound_id, asked_at_ms, closed) VALUES (?, ?, ?, ?, ?, ?, 0)
     ON CONFLICT (approval_id, user_id) DO UPDATE SET nonce = excluded.nonce, outbound_id = excluded.outbound_id,
     asked_at_ms = excluded.asked_at_ms, message_id = NULL, closed = 0, lost = 0, asks = asks + 1`,
  askedIn: 'UPDATE telegram_questions SET message_id = ? WHERE outbound_id = ?',
  putPreview: 'INSERT OR REPLACE INTO telegram_previews (turn_id, chat_id, message_id) VALUES (?, ?, ?)',
  preview: 'SELECT chat_id AS chatId, message_id AS messageId FROM telegram_previews WHERE turn_id = ?',
  closeQuestion: 'UPDATE telegram_questions SET closed = 1 WHERE approval_id = ? AND user_id = ?',
  setPaused: 'INSERT OR REPLACE INTO telegram_pause (only_row, paused) VALUES (1, ?)',
};

export class TelegramStore {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    applyByType(changes, event, this.#sql);
  }

  /** The first unconfirmed update; 0 for a bot without updates, or without any for so long that they are renumbered. */
  askFrom(botId: string, nowMs: number): number {
    const row = this.#sql.row<{ offset: number; takenAtMs: number }>(statements.offset, botId);
    return row === undefined || nowMs - row.takenAtMs > RENUMBERED_MS ? 0 : row.offset;
  }

  lease(tokenHash: string): { readonly holder: string; readonly polledAtMs: number } | null {
    return this.#sql.row<{ holder: string; polledAtMs: number }>(statements.lease, tokenHash) ?? null;
  }

  holdLease(tokenHash: string, holder: string, polledAtMs: number): void {
    this.#sql.run(statements.putLease, tokenHash, holder, polledAtMs);
  }

  people(): TelegramPerson[] {
    return this.#sql.rows<TelegramPerson>(`SELECT ${personColumns} FROM telegram_people ORDER BY paired_at_ms, user_id`);
  }

  person(userId: string): TelegramPerson | null {
    return this.#sql.row<TelegramPerson>(`SELECT ${personColumns} FROM telegram_people WHERE user_id = ?`, userId) ?? null;
  }

  pairings(): PairingRow[] {
    return this.#sql.rows<PairingRow>(`SELECT ${pairingColumns} FROM telegram_pairings ORDER BY expires_at_ms, pairing_id`);
  }

  held(): HeldMessage[] {
    return this.#sql.rows<{ body: string }>(statements.held).map(({ body }) => heldMessageSchema.parse(JSON.parse(body)));
  }

  questionsOf(approvalId: string): QuestionRow[] {
    return this.#sql.rows(`SELECT ${questionColumns} FROM telegram_questions WHERE approval_id = ?`, approvalId).map(toQuestion);
  }

  questionByNonce(nonce: string): QuestionRow | null {
    const row = this.#sql.row(`SELECT ${questionColumns} FROM telegram_questions WHERE nonce = ?`, nonce);
    return row === undefined ? null : toQuestion(row);
  }

  openQuestions(): QuestionRow[] {
    return this.#sql.rows(`SELECT ${questionColumns} FROM telegram_questions WHERE closed = 0 ORDER BY asked_at_ms`).map(toQuestion);
  }

  /** The message with the turn's live text; null if there is none. */
  preview(turnId: string): { readonly chatId: string; readonly messageId: string } | null {
    return this.#sql.row<{ chatId: string; messageId: string }>(statements.preview, turnId) ?? null;
  }

  get isPaused(): boolean {
    return this.#sql.row<{ paused: number }>('SELECT paused FROM telegram_pause')?.paused === 1;
  }
}

function toQuestion(row: unknown): QuestionRow {
  const { closed, lost, ...rest } = row as Omit<QuestionRow, 'closed' | 'lost'> & { closed: number; lost: number };
  return { ...rest, closed: closed === 1, lost: lost === 1 };
}

const changes: Changes<[Statements]> = {
  'telegram.updates_taken': (sql, { body, atMs }) => void sql.run(statements.putOffset, body.botId, body.offset, atMs),
  'telegram.message_held': (sql, { body: { message } }) =>
    void sql.run(statements.hold, message.botId, message.updateId, JSON.stringify(message)),
  'telegram.message_passed': (sql, { body }) => void sql.run(statements.release, body.botId, body.updateId),
  'telegram.pairing_offered': (sql, { body }) => void sql.run(statements.offerPairing, body.pairingId, body.codeHash, body.expiresAtMs),
  'telegram.pairing_claimed': (sql, { body }) => void sql.run(statements.claimPairing, body.userId, body.chatId, body.name, body.pairingId),
  'telegram.pairing_ended': (sql, { body }) => void sql.run(statements.dropPairing, body.pairingId),
  'telegram.paired': (sql, { body, atMs }) => {
    sql.run(statements.dropPairing, body.pairingId);
    sql.run(statements.putPerson, body.userId, body.chatId, body.name, atMs);
  },
  'telegram.revoked': (sql, { body }) => void sql.run('DELETE FROM telegram_people WHERE user_id = ?', body.userId),
  'telegram.paused': (sql) => void sql.run(statements.setPaused, 1),
  'telegram.resumed': (sql) => void sql.run(statements.setPaused, 0),
  'telegram.asked': (sql, { body, atMs }) => {
    sql.run(statements.ask, body.approvalId, body.userId, body.chatId, body.nonce, body.outboundId, atMs);
  },
  'telegram.preview_sent': (sql, { body }) => void sql.run(statements.putPreview, body.turnId, body.chatId, body.messageId),
  'outbound.part_sent': (sql, { body }) => void (body.part === 0 && sql.run(statements.askedIn, body.messageId, body.outboundId)),
  'outbound.uncertain': (sql, { body }) => void sql.run('UPDATE telegram_questions SET lost = 1 WHERE outbound_id = ?', body.outboundId),
  'telegram.question_closed': (sql, { body }) => void sql.run(statements.closeQuestion, body.approvalId, body.userId),
};
