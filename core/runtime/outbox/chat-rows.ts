// The chats, the session of each, and the turns that need an answer there. Rows kept in step with the log. Sends nothing and does not
// decide who may write.

import type { ChatAddress, ChatKind } from '../../contracts/channels.ts';
import { isHere } from '../../contracts/doors.ts';
import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { ChatInfo } from '../../contracts/outbox-ops.ts';
import { HeldRows, Statements, type SqlDatabase } from '../../store/storage/storage.ts';

export interface ChatTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly chat: ChatAddress;
  readonly messageId: string | null;
}

const chatColumns =
  'channel, chat_id AS chatId, thread_id AS threadId, kind, title, session_id AS sessionId, last_used_at_ms AS lastUsedAtMs';
const turnColumns =
  'turn_id AS turnId, session_id AS sessionId, channel, chat_id AS chatId, thread_id AS threadId, message_id AS messageId';

const statements = {
  bind: `INSERT INTO chats (channel, chat_id, thread_id, kind, title, session_id, last_used_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (channel, chat_id, thread_id) DO UPDATE SET kind = excluded.kind, title = excluded.title, session_id = excluded.session_id`,
  bindSession: 'INSERT OR REPLACE INTO chat_sessions (session_id, channel, chat_id, thread_id) VALUES (?, ?, ?, ?)',
  use: 'UPDATE chats SET last_used_at_ms = ? WHERE channel = ? AND chat_id = ? AND thread_id = ?',
  chat: `SELECT ${chatColumns} FROM chats WHERE channel = ? AND chat_id = ? AND thread_id = ?`,
  chats: `SELECT ${chatColumns} FROM chats ORDER BY last_used_at_ms DESC, channel, chat_id, thread_id LIMIT ?`,
  chatsOf: `SELECT ${chatColumns} FROM chats WHERE channel = ? ORDER BY last_used_at_ms DESC, chat_id, thread_id LIMIT ?`,
  ofSession: 'SELECT channel, chat_id AS chatId, thread_id AS threadId FROM chat_sessions WHERE session_id = ?',
  putTurn: `INSERT OR IGNORE INTO chat_turns (turn_id, session_id, channel, chat_id, thread_id, message_id, state) VALUES (?, ?, ?, ?, ?, ?, 'open')`,
  endTurn: "UPDATE chat_turns SET state = 'ended', ended_seq = ? WHERE turn_id = ? AND state = 'open'",
  ended: `SELECT ${turnColumns} FROM chat_turns WHERE state = 'ended' ORDER BY ended_seq LIMIT ?`,
};

export class ChatRows {
  readonly #sql: Statements;
  readonly #turns: HeldRows;

  readonly #changes: Changes = {
    'chat.bound': (event) => this.#bind(event),
    'user.message': (event) => this.#heard(event),
    'turn.started': (event) => this.#takenUp(event),
    'turn.finished': ({ seq, turnId }) => {
      if (turnId !== null && this.#turns.any) this.#sql.run(statements.endTurn, seq, turnId);
    },
    'channel.revoked': ({ body: { channel, chatId } }) => {
      if (chatId === undefined) return;
      for (const rows of ['chats', 'chat_sessions', 'chat_turns'])
        this.#sql.run(`DELETE FROM ${rows} WHERE channel = ? AND chat_id = ?`, channel, chatId);
    },
    'session.deleted': ({ body: { sessionId } }) => {
      this.#sql.run('DELETE FROM chat_turns WHERE session_id = ?', sessionId);
      this.#sql.run('DELETE FROM chat_sessions WHERE session_id = ?', sessionId);
      this.#sql.run('UPDATE chats SET session_id = NULL WHERE session_id = ?', sessionId);
    },
  };

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.#turns = new HeldRows(db, 'chat_turns');
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    applyByType(this.#changes, event);
  }

  chat({ channel, chatId, threadId }: ChatAddress): ChatInfo | null {
    const row = this.#sql.row<StoredChat>(statements.chat, channel, chatId, threadId ?? '');
    return row === undefined ? null : chatInfo(row);
  }

  /** The most recently used chat first. */
  chats(query: { readonly channel?: string | undefined; readonly limit: number }): ChatInfo[] {
    const rows =
      query.channel === undefined
        ? this.#sql.rows(statements.chats, query.limit)
        : this.#sql.rows(statements.chatsOf, query.channel, query.limit);
    return (rows as StoredChat[]).map(chatInfo);
  }

  /** The chat of the most recent message. */
  lastUsed(): ChatInfo | null {
    return this.chats({ limit: 1 })[0] ?? null;
  }

  /** The chat of a session; null if it never had one. */
  ofSession(sessionId: string): ChatAddress | null {
    const row = this.#sql.row<StoredAddress>(statements.ofSession, sessionId);
    return row === undefined ? null : addressOf(row);
  }

  /** The chat a turn came from and answers to; null if it did not come from a chat. */
  ofTurn(turnId: string): ChatTurn | null {
    const row = this.#sql.row<StoredTurn>(`SELECT ${turnColumns} FROM chat_turns WHERE turn_id = ?`, turnId);
    return row === undefined ? null : chatTurn(row);
  }

  /** Ended turns whose chat was not answered yet, oldest first. */
  ended(limit: number): ChatTurn[] {
    if (!this.#turns.any) return [];
    return this.#sql.rows<StoredTurn>(statements.ended, limit).map(chatTurn);
  }

  /** Marks the turn as answered. */
  told(turnId: string): void {
    this.#sql.run("UPDATE chat_turns SET state = 'told' WHERE turn_id = ?", turnId);
  }

  #bind({ body, atMs }: EventOf<'chat.bound'>): void {
    const { chat, kind, title, sessionId } = body;
    const place = [chat.channel, chat.chatId, chat.threadId ?? ''] as const;
    this.#sql.run(statements.bind, ...place, kind, title, sessionId, atMs);
    if (sessionId !== null) this.#sql.run(statements.bindSession, sessionId, ...place);
  }

  #heard({ turnId, sessionId, body, atMs }: EventOf<'user.message'>): void {
    if (turnId === null) return;
    const from = body.chat ?? (isHere(body.channel) ? null : this.ofSession(sessionId));
    if (from === null) return;
    const place = [from.channel, from.chatId, from.threadId ?? ''] as const;
    this.#turns.put();
    this.#sql.run(statements.putTurn, turnId, sessionId, ...place, body.chat?.messageId ?? null);
    if (body.chat !== undefined) this.#sql.run(statements.use, atMs, ...place);
  }

  /** A turn that continues the work of another also takes over its chat. */
  #takenUp({ turnId, sessionId, body }: EventOf<'turn.started'>): void {
    const earlier = body.continues?.turnIds.at(-1);
    if (turnId === null || earlier === undefined) return;
    const known = this.ofTurn(earlier);
    if (known === null) return;
    const { chat, messageId } = known;
    this.#turns.put();
    this.#sql.run(statements.putTurn, turnId, sessionId, chat.channel, chat.chatId, chat.threadId ?? '', messageId);
  }
}

interface StoredAddress {
  readonly channel: string;
  readonly chatId: string;
  readonly threadId: string;
}
type StoredChat = StoredAddress & {
  readonly kind: ChatKind;
  readonly title: string;
  readonly sessionId: string | null;
  readonly lastUsedAtMs: number;
};
type StoredTurn = StoredAddress & { readonly turnId: string; readonly sessionId: string; readonly messageId: string | null };

function addressOf({ channel, chatId, threadId }: StoredAddress): ChatAddress {
  return { channel, chatId, ...(threadId === '' ? {} : { threadId }) };
}

function chatInfo(row: StoredChat): ChatInfo {
  const { kind, title, sessionId, lastUsedAtMs } = row;
  return { ...addressOf(row), kind, title, sessionId, lastUsedAtMs };
}

function chatTurn(row: StoredTurn): ChatTurn {
  return { turnId: row.turnId, sessionId: row.sessionId, chat: addressOf(row), messageId: row.messageId };
}
