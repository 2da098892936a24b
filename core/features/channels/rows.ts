// The rows of all chat services, updated from their events in the transaction of the append: paired people, codes, messages that were taken
// or wait for their files, questions, notes. Each service sees only its own rows. Makes no decision.

import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { heldInboundSchema, takenCommandSchema, type HeldInbound, type TakenCommand } from '../../contracts/features/channels.ts';
import type { PairingRow, PeopleRows, Person, QuestionRow, QuestionRows } from '../../runtime/chats/chats.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const channelMigrations: readonly Migration[] = sqlMigrations({
  'channels-001': `
    CREATE TABLE IF NOT EXISTS channel_people (
      channel TEXT NOT NULL, user_id TEXT NOT NULL, chat_id TEXT NOT NULL, name TEXT NOT NULL, paired_at_ms INTEGER NOT NULL,
      PRIMARY KEY (channel, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS channel_pairings (
      pairing_id TEXT PRIMARY KEY, channel TEXT NOT NULL, code_hash TEXT NOT NULL, expires_at_ms INTEGER NOT NULL, user_id TEXT,
      chat_id TEXT, name TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS channel_taken (
      channel TEXT NOT NULL, key TEXT NOT NULL, at_ms INTEGER NOT NULL, command TEXT, PRIMARY KEY (channel, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS channel_taken_age ON channel_taken (channel, at_ms);
    CREATE TABLE IF NOT EXISTS channel_questions (
      channel TEXT NOT NULL, approval_id TEXT NOT NULL, user_id TEXT NOT NULL, chat_id TEXT NOT NULL, nonce TEXT NOT NULL UNIQUE,
      outbound_id TEXT NOT NULL, asked_at_ms INTEGER NOT NULL, message_id TEXT, closed INTEGER NOT NULL DEFAULT 0,
      asks INTEGER NOT NULL DEFAULT 1, lost INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (channel, approval_id, user_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS channel_questions_open ON channel_questions (channel) WHERE closed = 0;
    CREATE INDEX IF NOT EXISTS channel_questions_sent ON channel_questions (outbound_id);
    CREATE TABLE IF NOT EXISTS channel_previews (
      channel TEXT NOT NULL, turn_id TEXT NOT NULL, chat_id TEXT NOT NULL, message_id TEXT NOT NULL, PRIMARY KEY (channel, turn_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS channel_notes (
      channel TEXT NOT NULL, note TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (channel, note)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS channel_pauses (channel TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  `,
  'channels-002': `
    CREATE TABLE IF NOT EXISTS channel_held (
      place INTEGER PRIMARY KEY, channel TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (channel, key)
    ) STRICT;
  `,
});

/** Messages are remembered for this long. A service does not deliver a message again later. */
const TAKEN_KEPT_MS = 60 * 86_400_000;

const personColumns = 'user_id AS userId, chat_id AS chatId, name, paired_at_ms AS pairedAtMs';
const pairingColumns =
  'pairing_id AS pairingId, code_hash AS codeHash, expires_at_ms AS expiresAtMs, user_id AS userId, chat_id AS chatId, name';
const questionColumns =
  'approval_id AS approvalId, user_id AS userId, chat_id AS chatId, nonce, outbound_id AS outboundId, asked_at_ms AS askedAtMs, message_id AS messageId, closed, asks, lost';

const statements = {
  people: `SELECT ${personColumns} FROM channel_people WHERE channel = ? ORDER BY paired_at_ms, user_id`,
  person: `SELECT ${personColumns} FROM channel_people WHERE channel = ? AND user_id = ?`,
  putPerson: 'INSERT OR REPLACE INTO channel_people (channel, user_id, chat_id, name, paired_at_ms) VALUES (?, ?, ?, ?, ?)',
  dropPerson: 'DELETE FROM channel_people WHERE channel = ? AND user_id = ?',
  pairings: `SELECT ${pairingColumns} FROM channel_pairings WHERE channel = ? ORDER BY expires_at_ms, pairing_id`,
  offer: 'INSERT OR REPLACE INTO channel_pairings (pairing_id, channel, code_hash, expires_at_ms) VALUES (?, ?, ?, ?)',
  claim: 'UPDATE channel_pairings SET user_id = ?, chat_id = ?, name = ? WHERE pairing_id = ?',
  dropPairing: 'DELETE FROM channel_pairings WHERE pairing_id = ?',
  take: 'INSERT OR IGNORE INTO channel_taken (channel, key, at_ms, command) VALUES (?, ?, ?, ?)',
  left: 'SELECT key, command FROM channel_taken WHERE channel = ? AND command IS NOT NULL ORDER BY at_ms, key',
  answered: 'UPDATE channel_taken SET command = NULL WHERE channel = ? AND key = ?',
  held: 'SELECT key, body FROM channel_held WHERE channel = ? ORDER BY place',
  hold: 'INSERT OR IGNORE INTO channel_held (channel, key, body) VALUES (?, ?, ?)',
  release: 'DELETE FROM channel_held WHERE channel = ? AND key = ?',
  ask: `INSERT INTO channel_questions (channel, approval_id, user_id, chat_id, nonce, outbound_id, asked_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (channel, approval_id, user_id) DO UPDATE SET nonce = excluded.nonce, outbound_id = excluded.outbound_id,
     asked_at_ms = excluded.asked_at_ms, message_id = NULL, closed = 0, lost = 0, asks = asks + 1`,
  askedIn: 'UPDATE channel_questions SET message_id = ? WHERE outbound_id = ?',
  close: 'UPDATE channel_questions SET closed = 1 WHERE channel = ? AND approval_id = ? AND user_id = ?',
  questionsOf: `SELECT ${questionColumns} FROM channel_questions WHERE channel = ? AND approval_id = ?`,
  open: `SELECT ${questionColumns} FROM channel_questions WHERE channel = ? AND closed = 0 ORDER BY asked_at_ms`,
  putPreview: 'INSERT OR REPLACE INTO channel_previews (channel, turn_id, chat_id, message_id) VALUES (?, ?, ?, ?)',
  preview: 'SELECT chat_id AS chatId, message_id AS messageId FROM channel_previews WHERE channel = ? AND turn_id = ?',
  note: 'SELECT value FROM channel_notes WHERE channel = ? AND note = ?',
  putNote: 'INSERT OR REPLACE INTO channel_notes (channel, note, value) VALUES (?, ?, ?)',
};

export interface HeldMessage {
  readonly key: string;
  readonly message: HeldInbound;
}

export class ChannelRows {
  readonly #sql: Statements;

  readonly permits = {
    what: 'The pairing of',
    rows: 'channel_people',
    key: "channel || ' ' || user_id",
    value: 'chat_id',
    events: ['channel.paired', 'channel.revoked', 'telegram.paired', 'telegram.revoked'],
    keyInBody: "coalesce(json_extract(body, '$.channel'), 'telegram') || ' ' || json_extract(body, '$.userId')",
    valueInBody: "json_extract(body, '$.chatId')",
    undo: 'trayclaw channels revoke KEY',
  } satisfies PermittingRows;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event within its transaction. */
  apply(event: AnyEvent): void {
    applyByType(changes, event, this.#sql);
  }

  of(channel: string): ServiceRows {
    return new ServiceRows(this.#sql, channel);
  }
}

export class ServiceRows implements PeopleRows, QuestionRows {
  readonly #sql: Statements;
  readonly #channel: string;

  constructor(sql: Statements, channel: string) {
    this.#sql = sql;
    this.#channel = channel;
  }

  people(): Person[] {
    return this.#sql.rows<Person>(statements.people, this.#channel);
  }

  person(userId: string): Person | null {
    return this.#sql.row<Person>(statements.person, this.#channel, userId) ?? null;
  }

  pairings(): PairingRow[] {
    return this.#sql.rows<PairingRow>(statements.pairings, this.#channel);
  }

  /** True if the message was handled without starting a turn, or is held. */
  isTaken(key: string): boolean {
    return this.#sql.row('SELECT 1 FROM channel_taken WHERE channel = ? AND key = ?', this.#channel, key) !== undefined;
  }

  /** Commands whose answers are not queued yet. */
  leftCommands(): { readonly key: string; readonly command: TakenCommand }[] {
    const rows = this.#sql.rows<{ key: string; command: string }>(statements.left, this.#channel);
    return rows.map(({ key, command }) => ({ key, command: takenCommandSchema.parse(JSON.parse(command)) }));
  }

  /** Held messages in order of arrival. */
  held(): HeldMessage[] {
    const rows = this.#sql.rows<{ key: string; body: string }>(statements.held, this.#channel);
    return rows.map(({ key, body }) => ({ key, message: heldInboundSchema.parse(JSON.parse(body)) }));
  }

  questionsOf(approvalId: string): QuestionRow[] {
    return this.#sql.rows(statements.questionsOf, this.#channel, approvalId).map(toQuestion);
  }

  questionByNonce(nonce: string): QuestionRow | null {
    const row = this.#sql.row(`SELECT ${questionColumns} FROM channel_questions WHERE channel = ? AND nonce = ?`, this.#channel, nonce);
    return row === undefined ? null : toQuestion(row);
  }

  openQuestions(): QuestionRow[] {
    return this.#sql.rows(statements.open, this.#channel).map(toQuestion);
  }

  preview(turnId: string): { readonly chatId: string; readonly messageId: string } | null {
    return this.#sql.row<{ chatId: string; messageId: string }>(statements.preview, this.#channel, turnId) ?? null;
  }

  note(key: string): string | null {
    return this.#sql.row<{ value: string }>(statements.note, this.#channel, key)?.value ?? null;
  }

  get isPaused(): boolean {
    return this.#sql.row('SELECT 1 FROM channel_pauses WHERE channel = ?', this.#channel) !== undefined;
  }
}

function toQuestion(row: unknown): QuestionRow {
  const { closed, lost, ...rest } = row as Omit<QuestionRow, 'closed' | 'lost'> & { closed: number; lost: number };
  return { ...rest, closed: closed === 1, lost: lost === 1 };
}

const changes: Changes<[Statements]> = {
  'channel.pairing_offered': (sql, { body }) =>
    void sql.run(statements.offer, body.pairingId, body.channel, body.codeHash, body.expiresAtMs),
  'channel.pairing_claimed': (sql, { body }) => void sql.run(statements.claim, body.userId, body.chatId, body.name, body.pairingId),
  'channel.pairing_ended': (sql, { body }) => void sql.run(statements.dropPairing, body.pairingId),
  'channel.paired': (sql, { body, atMs }) => {
    sql.run(statements.dropPairing, body.pairingId);
    sql.run(statements.putPerson, body.channel, body.userId, body.chatId, body.name, atMs);
  },
  'channel.revoked': (sql, { body }) => void sql.run(statements.dropPerson, body.channel, body.userId),
  'channel.paused': (sql, { body }) => void sql.run('INSERT OR REPLACE INTO channel_pauses (channel) VALUES (?)', body.channel),
  'channel.resumed': (sql, { body }) => void sql.run('DELETE FROM channel_pauses WHERE channel = ?', body.channel),
  'channel.message_taken': (sql, { body, atMs }) => {
    sql.run(statements.take, body.channel, body.key, atMs, body.command === undefined ? null : JSON.stringify(body.command));
    sql.run('DELETE FROM channel_taken WHERE channel = ? AND at_ms < ? AND command IS NULL', body.channel, atMs - TAKEN_KEPT_MS);
  },
  'channel.message_held': (sql, { body, atMs }) => {
    sql.run(statements.take, body.channel, body.key, atMs, null);
    sql.run(statements.hold, body.channel, body.key, JSON.stringify(body.message));
  },
  'channel.message_passed': (sql, { body }) => void sql.run(statements.release, body.channel, body.key),
  'channel.command_answered': (sql, { body }) => void sql.run(statements.answered, body.channel, body.key),
  'channel.asked': (sql, { body, atMs }) => {
    sql.run(statements.ask, body.channel, body.approvalId, body.userId, body.chatId, body.nonce, body.outboundId, atMs);
  },
  'channel.preview_sent': (sql, { body }) => void sql.run(statements.putPreview, body.channel, body.turnId, body.chatId, body.messageId),
  'channel.noted': (sql, { body }) => void sql.run(statements.putNote, body.channel, body.note, body.value),
  'outbound.part_sent': (sql, { body }) => void (body.part === 0 && sql.run(statements.askedIn, body.messageId, body.outboundId)),
  'outbound.uncertain': (sql, { body }) => void sql.run('UPDATE channel_questions SET lost = 1 WHERE outbound_id = ?', body.outboundId),
  'channel.question_closed': (sql, { body }) => void sql.run(statements.close, body.channel, body.approvalId, body.userId),
};
