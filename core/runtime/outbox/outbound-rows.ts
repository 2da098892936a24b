// Outbound messages and their outcomes, as rows kept in step with the log. Knows the order; sends nothing.

import { outboundItemSchema, type ChatAddress, type OutboundItem } from '../../contracts/channels.ts';
import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { OutboundInfo, OutboundState } from '../../contracts/outbox-ops.ts';
import { HeldRows, Statements, type SqlDatabase } from '../../store/storage/storage.ts';

export interface OutboundRow {
  readonly outboundId: string;
  readonly sessionId: string;
  readonly state: OutboundState;
  /** The index of the next part to send; all parts before it have arrived. */
  readonly part: number;
  readonly parts: number | null;
  /** The number of attempts to send that part so far. */
  readonly attempt: number;
  /** True if the last attempt can be repeated without the part arriving twice. */
  readonly repeatable: boolean;
  readonly retryAtMs: number | null;
  /** Since when it waits to be sent: since it was queued, or since a person wanted it sent again. */
  readonly waitsSinceMs: number;
  /** True if a person has reviewed it since and wants it sent. */
  readonly wanted: boolean;
  readonly updatedAtMs: number;
  readonly item: OutboundItem;
}

export interface OutboundQuery {
  readonly states: readonly OutboundState[];
  readonly sessionId?: string | undefined;
  readonly limit: number;
}

const columns = `outbound_id AS outboundId, session_id AS sessionId, state, part, parts, attempt, repeatable, retry_at_ms AS retryAtMs,
  waits_since_ms AS waitsSinceMs, item, reason, created_at_ms AS createdAtMs, updated_at_ms AS updatedAtMs`;
const open = "state IN ('queued', 'sending')";

const statements = {
  put: `INSERT INTO outbound (seq, outbound_id, idempotency_key, channel, chat_id, session_id, turn_id, kind, about_panic, state, part, attempt,
       repeatable, created_at_ms, waits_since_ms, updated_at_ms, item)
     VALUES (@seq, @outboundId, @idempotencyKey, @channel, @chatId, @sessionId, @turnId, @kind, @aboutPanic, 'queued', 0, 0, 0, @atMs, @atMs, @atMs, @item)`,
  sending:
    "UPDATE outbound SET state = 'sending', parts = ?, attempt = ?, repeatable = ?, retry_at_ms = NULL, updated_at_ms = ? WHERE outbound_id = ?",
  partSent:
    "UPDATE outbound SET state = iif(state = 'dropped', state, 'queued'), part = ?, attempt = 0, repeatable = 0, reason = NULL, updated_at_ms = ? WHERE outbound_id = ?",
  putPart: 'INSERT OR REPLACE INTO outbound_parts (outbound_id, part, message_id) VALUES (?, ?, ?)',
  move: 'UPDATE outbound SET state = ?, reason = ?, retry_at_ms = ?, updated_at_ms = ? WHERE outbound_id = ?',
  retry:
    "UPDATE outbound SET state = iif(state = 'dropped', state, 'queued'), reason = ?, retry_at_ms = ?, updated_at_ms = ? WHERE outbound_id = ?",
  dropChat: `UPDATE outbound SET state = 'dropped', reason = 'The pairing of this chat was ended.', retry_at_ms = NULL, updated_at_ms = ?
     WHERE channel = ? AND chat_id = ? AND ${open}`,
  settle: `UPDATE outbound SET state = ?, part = ?, attempt = 0, repeatable = 0, reason = NULL, retry_at_ms = NULL, waits_since_ms = @atMs, updated_at_ms = @atMs
     WHERE outbound_id = ?`,
  row: `SELECT ${columns} FROM outbound WHERE outbound_id = ?`,
  byKey: 'SELECT outbound_id AS outboundId FROM outbound WHERE idempotency_key = ?',
  head: `SELECT ${columns} FROM outbound WHERE channel = ? AND chat_id = ? AND ${open} AND about_panic >= ? ORDER BY seq LIMIT 1`,
  openChats: `SELECT DISTINCT channel, chat_id AS chatId FROM outbound WHERE ${open} ORDER BY channel, chat_id`,
  countOpen: `SELECT count(*) AS n FROM outbound WHERE channel = ? AND chat_id = ? AND ${open}`,
  interrupted: `SELECT ${columns} FROM outbound WHERE state = 'sending' AND repeatable = 0 ORDER BY seq`,
  stale: `SELECT ${columns} FROM outbound WHERE state = 'queued' AND waits_since_ms <= ? ORDER BY seq LIMIT ?`,
  list: `SELECT ${columns} FROM outbound WHERE state IN (SELECT value FROM json_each(?)) AND (? IS NULL OR session_id = ?) ORDER BY seq DESC LIMIT ?`,
  toldChat: `SELECT 1 FROM outbound WHERE turn_id = ? AND kind = 'message' AND channel = ? AND chat_id = ?
       AND coalesce(json_extract(item, '$.to.threadId'), '') = ? AND state NOT IN ('failed', 'dropped') LIMIT 1`,
  sessionOfMessage: `SELECT o.session_id AS sessionId FROM outbound_parts p JOIN outbound o USING (outbound_id)
     WHERE p.message_id = ? AND o.channel = ? AND o.chat_id = ? LIMIT 1`,
  dropParts: 'DELETE FROM outbound_parts WHERE outbound_id IN (SELECT outbound_id FROM outbound WHERE session_id = ?)',
};

export class OutboundRows {
  readonly #sql: Statements;
  readonly #held: HeldRows;

  readonly #changes: Changes = {
    'outbound.queued': (event) => this.#put(event),
    'outbound.sending': ({ body: { outboundId, parts, attempt, repeatable }, atMs }) =>
      void this.#sql.run(statements.sending, parts, attempt, Number(repeatable), atMs, outboundId),
    'outbound.part_sent': ({ body: { outboundId, part, messageId }, atMs }) => {
      this.#sql.run(statements.putPart, outboundId, part, messageId);
      this.#sql.run(statements.partSent, part + 1, atMs, outboundId);
    },
    'outbound.sent': ({ body, atMs }) => void this.#sql.run(statements.move, 'sent', null, null, atMs, body.outboundId),
    'outbound.failed': ({ body: { outboundId, error, retryAtMs }, atMs }) =>
      void (retryAtMs === null
        ? this.#sql.run(statements.move, 'failed', error, null, atMs, outboundId)
        : this.#sql.run(statements.retry, error, retryAtMs, atMs, outboundId)),
    'outbound.uncertain': ({ body, atMs }) => void this.#sql.run(statements.move, 'uncertain', body.reason, null, atMs, body.outboundId),
    'outbound.settled': (event) => this.#settle(event),
    'channel.revoked': ({ body: { channel, chatId }, atMs }) =>
      void (chatId !== undefined && this.#sql.run(statements.dropChat, atMs, channel, chatId)),
    'session.deleted': ({ body: { sessionId } }) => {
      this.#sql.run(statements.dropParts, sessionId);
      this.#sql.run('DELETE FROM outbound WHERE session_id = ?', sessionId);
    },
  };

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.#held = new HeldRows(db, 'outbound');
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    applyByType(this.#changes, event);
  }

  row(outboundId: string): OutboundRow | null {
    return rowOf(this.#sql.row(statements.row, outboundId));
  }

  info(outboundId: string): OutboundInfo | null {
    const stored = this.#sql.row<StoredRow>(statements.row, outboundId);
    return stored === undefined ? null : infoOf(stored);
  }

  byKey(idempotencyKey: string): string | null {
    return this.#sql.row<{ outboundId: string }>(statements.byKey, idempotencyKey)?.outboundId ?? null;
  }

  /** The next message of a chat; during a panic stop the first one about it. */
  head({ channel, chatId }: ChatAddress, onlyAboutPanic: boolean): OutboundRow | null {
    return rowOf(this.#sql.row(statements.head, channel, chatId, Number(onlyAboutPanic)));
  }

  openChats(): ChatAddress[] {
    return this.#held.any ? this.#sql.rows<ChatAddress>(statements.openChats) : [];
  }

  countOpen({ channel, chatId }: ChatAddress): number {
    return (this.#sql.row(statements.countOpen, channel, chatId) as { n: number }).n;
  }

  /** Messages with a part that was being sent and has no recorded outcome. */
  interrupted(): OutboundRow[] {
    return this.#sql.rows<StoredRow>(statements.interrupted).map(parseRow);
  }

  waitingSince(beforeMs: number, limit: number): OutboundRow[] {
    return this.#sql.rows<StoredRow>(statements.stale, beforeMs, limit).map(parseRow);
  }

  /** Newest first. */
  list({ states, sessionId, limit }: OutboundQuery): OutboundInfo[] {
    const rows = this.#sql.rows(statements.list, JSON.stringify(states), sessionId ?? null, sessionId ?? null, limit);
    return (rows as StoredRow[]).map(infoOf);
  }

  /** Returns whether a turn has already sent its own message to the chat. */
  hasToldChat(turnId: string, { channel, chatId, threadId }: ChatAddress): boolean {
    return this.#sql.row(statements.toldChat, turnId, channel, chatId, threadId ?? '') !== undefined;
  }

  /** The session that sent a message of a chat; null if TrayClaw did not send it. */
  sessionOfMessage({ channel, chatId }: ChatAddress, messageId: string): string | null {
    const row = this.#sql.row<{ sessionId: string }>(statements.sessionOfMessage, messageId, channel, chatId);
    return row?.sessionId ?? null;
  }

  #put({ seq, atMs, sessionId, body }: EventOf<'outbound.queued'>): void {
    const { outboundId, idempotencyKey, to, kind, turnId, aboutPanic } = body;
    const place = { channel: to.channel, chatId: to.chatId, sessionId, turnId };
    this.#held.put();
    this.#sql.run(statements.put, {
      seq,
      outboundId,
      idempotencyKey,
      ...place,
      kind,
      aboutPanic: aboutPanic === true ? 1 : 0,
      atMs,
      item: JSON.stringify(body),
    });
  }

  #settle({ body: { outboundId, answer }, atMs }: EventOf<'outbound.settled'>): void {
    const row = this.row(outboundId);
    if (row === null) return;
    const part = answer === 'sent' ? row.part + 1 : row.part;
    const isDone = answer === 'sent' && part >= (row.parts ?? 1);
    this.#sql.run(statements.settle, answer === 'drop' ? 'dropped' : isDone ? 'sent' : 'queued', part, outboundId, { atMs });
  }
}

interface StoredRow extends Omit<OutboundRow, 'item' | 'repeatable' | 'wanted'> {
  readonly repeatable: number;
  readonly item: string;
  readonly reason: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

function rowOf(stored: unknown): OutboundRow | null {
  return stored === undefined ? null : parseRow(stored as StoredRow);
}

function parseRow(stored: StoredRow): OutboundRow {
  const { outboundId, sessionId, state, part, parts, attempt, retryAtMs, waitsSinceMs, updatedAtMs } = stored;
  const item = outboundItemSchema.parse(JSON.parse(stored.item));
  const about = { repeatable: stored.repeatable === 1, wanted: waitsSinceMs > stored.createdAtMs };
  return { outboundId, sessionId, state, part, parts, attempt, retryAtMs, waitsSinceMs, updatedAtMs, item, ...about };
}

function infoOf(stored: StoredRow): OutboundInfo {
  const { outboundId, state, sessionId, part, parts, reason, retryAtMs, createdAtMs, updatedAtMs } = stored;
  const { to, kind, text, files, turnId } = parseRow(stored).item;
  const sent = state === 'sent' ? (parts ?? part) : part;
  return {
    outboundId,
    to,
    kind,
    state,
    text,
    files: files.length,
    sessionId,
    turnId,
    partsSent: sent,
    parts,
    reason,
    retryAtMs,
    createdAtMs,
    updatedAtMs,
  };
}
