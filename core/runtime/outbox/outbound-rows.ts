// Outbound messages and their outcomes, as rows kept in step with the log. Knows the order; sends nothing.

import { outboundItemSchema, type ChatAddress, type OutboundItem } from '../../contracts/channels.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { OutboundInfo, OutboundState } from '../../contracts/outbox-ops.ts';
import { HeldRows, type SqlDatabase } from '../../store/storage/storage.ts';

export interface OutboundRow {
  readonly outboundId: string;
  readonly sessionId: string;
  readonly state: OutboundState;
  /** The next part to send; before it, all have arrived. */
  readonly part: number;
  readonly parts: number | null;
  /** Tries of that part so far. */
  readonly attempt: number;
  /** The last try may be made again without arriving twice. */
  readonly repeatable: boolean;
  readonly retryAtMs: number | null;
  /** Since when it waits to leave: since it was queued, or since a person wanted it sent again. */
  readonly waitsSinceMs: number;
  /** A person has reviewed it since and wants it sent. */
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

function prepareAll(db: SqlDatabase) {
  return {
    put: db.prepare(
      `INSERT INTO outbound (seq, outbound_id, idempotency_key, channel, chat_id, session_id, turn_id, kind, about_panic, state, part, attempt,
         repeatable, created_at_ms, waits_since_ms, updated_at_ms, item)
       VALUES (@seq, @outboundId, @idempotencyKey, @channel, @chatId, @sessionId, @turnId, @kind, @aboutPanic, 'queued', 0, 0, 0, @atMs, @atMs, @atMs, @item)`,
    ),
    sending: db.prepare(
      "UPDATE outbound SET state = 'sending', parts = ?, attempt = ?, repeatable = ?, retry_at_ms = NULL, updated_at_ms = ? WHERE outbound_id = ?",
    ),
    partSent: db.prepare(
      "UPDATE outbound SET state = 'queued', part = ?, attempt = 0, repeatable = 0, reason = NULL, updated_at_ms = ? WHERE outbound_id = ?",
    ),
    putPart: db.prepare('INSERT OR REPLACE INTO outbound_parts (outbound_id, part, message_id) VALUES (?, ?, ?)'),
    move: db.prepare('UPDATE outbound SET state = ?, reason = ?, retry_at_ms = ?, updated_at_ms = ? WHERE outbound_id = ?'),
    settle: db.prepare(
      `UPDATE outbound SET state = ?, part = ?, attempt = 0, repeatable = 0, reason = NULL, retry_at_ms = NULL, waits_since_ms = @atMs, updated_at_ms = @atMs
       WHERE outbound_id = ?`,
    ),
    row: db.prepare(`SELECT ${columns} FROM outbound WHERE outbound_id = ?`),
    byKey: db.prepare('SELECT outbound_id AS outboundId FROM outbound WHERE idempotency_key = ?'),
    head: db.prepare(
      `SELECT ${columns} FROM outbound WHERE channel = ? AND chat_id = ? AND ${open} AND about_panic >= ? ORDER BY seq LIMIT 1`,
    ),
    openChats: db.prepare(`SELECT DISTINCT channel, chat_id AS chatId FROM outbound WHERE ${open} ORDER BY channel, chat_id`),
    countOpen: db.prepare(`SELECT count(*) AS n FROM outbound WHERE channel = ? AND chat_id = ? AND ${open}`),
    interrupted: db.prepare(`SELECT ${columns} FROM outbound WHERE state = 'sending' AND repeatable = 0 ORDER BY seq`),
    stale: db.prepare(`SELECT ${columns} FROM outbound WHERE state = 'queued' AND waits_since_ms <= ? ORDER BY seq LIMIT ?`),
    list: db.prepare(
      `SELECT ${columns} FROM outbound WHERE state IN (SELECT value FROM json_each(?)) AND (? IS NULL OR session_id = ?) ORDER BY seq DESC LIMIT ?`,
    ),
    toldChat: db.prepare(
      `SELECT 1 FROM outbound WHERE turn_id = ? AND kind = 'message' AND channel = ? AND chat_id = ?
         AND coalesce(json_extract(item, '$.to.threadId'), '') = ? AND state NOT IN ('failed', 'dropped') LIMIT 1`,
    ),
    sessionOfMessage: db.prepare(
      `SELECT o.session_id AS sessionId FROM outbound_parts p JOIN outbound o USING (outbound_id)
       WHERE p.message_id = ? AND o.channel = ? AND o.chat_id = ? LIMIT 1`,
    ),
    dropParts: db.prepare('DELETE FROM outbound_parts WHERE outbound_id IN (SELECT outbound_id FROM outbound WHERE session_id = ?)'),
    drop: db.prepare('DELETE FROM outbound WHERE session_id = ?'),
  };
}

export class OutboundRows {
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #held: HeldRows;

  constructor(db: SqlDatabase) {
    this.#sql = prepareAll(db);
    this.#held = new HeldRows(db, 'outbound');
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    const { atMs } = event;
    switch (event.type) {
      case 'outbound.queued':
        this.#put(event);
        return;
      case 'outbound.sending': {
        const { outboundId, parts, attempt, repeatable } = event.body;
        this.#sql.sending.run(parts, attempt, Number(repeatable), atMs, outboundId);
        return;
      }
      case 'outbound.part_sent':
        this.#sql.putPart.run(event.body.outboundId, event.body.part, event.body.messageId);
        this.#sql.partSent.run(event.body.part + 1, atMs, event.body.outboundId);
        return;
      case 'outbound.sent':
        this.#sql.move.run('sent', null, null, atMs, event.body.outboundId);
        return;
      case 'outbound.failed': {
        const { outboundId, error, retryAtMs } = event.body;
        this.#sql.move.run(retryAtMs === null ? 'failed' : 'queued', error, retryAtMs, atMs, outboundId);
        return;
      }
      case 'outbound.uncertain':
        this.#sql.move.run('uncertain', event.body.reason, null, atMs, event.body.outboundId);
        return;
      case 'outbound.settled':
        this.#settle(event);
        return;
      case 'session.deleted':
        this.#sql.dropParts.run(event.body.sessionId);
        this.#sql.drop.run(event.body.sessionId);
        return;
      default:
        return;
    }
  }

  row(outboundId: string): OutboundRow | null {
    return rowOf(this.#sql.row.get(outboundId));
  }

  info(outboundId: string): OutboundInfo | null {
    const stored = this.#sql.row.get(outboundId) as StoredRow | undefined;
    return stored === undefined ? null : infoOf(stored);
  }

  byKey(idempotencyKey: string): string | null {
    return (this.#sql.byKey.get(idempotencyKey) as { outboundId: string } | undefined)?.outboundId ?? null;
  }

  /** The next message of a chat; during a panic stop the first one about it. */
  head({ channel, chatId }: ChatAddress, onlyAboutPanic: boolean): OutboundRow | null {
    return rowOf(this.#sql.head.get(channel, chatId, Number(onlyAboutPanic)));
  }

  openChats(): ChatAddress[] {
    return this.#held.any ? (this.#sql.openChats.all() as ChatAddress[]) : [];
  }

  countOpen({ channel, chatId }: ChatAddress): number {
    return (this.#sql.countOpen.get(channel, chatId) as { n: number }).n;
  }

  /** Messages with a part that was being sent and has no recorded outcome. */
  interrupted(): OutboundRow[] {
    return (this.#sql.interrupted.all() as StoredRow[]).map(parseRow);
  }

  waitingSince(beforeMs: number, limit: number): OutboundRow[] {
    return (this.#sql.stale.all(beforeMs, limit) as StoredRow[]).map(parseRow);
  }

  /** Newest first. */
  list({ states, sessionId, limit }: OutboundQuery): OutboundInfo[] {
    const rows = this.#sql.list.all(JSON.stringify(states), sessionId ?? null, sessionId ?? null, limit);
    return (rows as StoredRow[]).map(infoOf);
  }

  /** Returns whether a turn has already sent its own message to the chat. */
  hasToldChat(turnId: string, { channel, chatId, threadId }: ChatAddress): boolean {
    return this.#sql.toldChat.get(turnId, channel, chatId, threadId ?? '') !== undefined;
  }

  /** The session that sent a message of a chat; null if we did not send it. */
  sessionOfMessage({ channel, chatId }: ChatAddress, messageId: string): string | null {
    const row = this.#sql.sessionOfMessage.get(messageId, channel, chatId) as { sessionId: string } | undefined;
    return row?.sessionId ?? null;
  }

  #put({ seq, atMs, sessionId, body }: EventOf<'outbound.queued'>): void {
    const { outboundId, idempotencyKey, to, kind, turnId, aboutPanic } = body;
    const place = { channel: to.channel, chatId: to.chatId, sessionId, turnId };
    this.#held.put();
    this.#sql.put.run({
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
    this.#sql.settle.run(answer === 'drop' ? 'dropped' : isDone ? 'sent' : 'queued', part, outboundId, { atMs });
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
