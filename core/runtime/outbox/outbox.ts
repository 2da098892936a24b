// The outbox: every message to a chat is queued here once and then sent by its channel. Follows the log so that a turn that came from a
// chat is answered there exactly once. Decides nothing about permission: the policy gate did.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ChannelPort, NewOutbound, OutboundItem, ChatAddress } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent } from '../../contracts/events.ts';
import type { OutboundInfo } from '../../contracts/outbox-ops.ts';
import { replyText } from '../../contracts/turn-words.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { ChatRows, ChatTurn } from './chat-rows.ts';
import { Dispatch, type DispatchDeps } from './dispatch.ts';
import type { HookPort } from '../../contracts/features/hooks.ts';
import type { OutboundQuery, OutboundRows } from './outbound-rows.ts';
import type { MessagePort } from '../../hands/tools/tools.ts';

export { ChatRows, type ChatTurn } from './chat-rows.ts';
export { OutboundRows } from './outbound-rows.ts';
export { outboxMigrations } from './outbox-schema.ts';

export interface OutboxDeps extends DispatchDeps {
  readonly log: SessionLog;
  readonly chats: ChatRows;
  readonly rows: OutboundRows;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A text from a turn. A second notice with the same key is ignored. */
export interface Notice {
  readonly text: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly key: string;
}

const QUEUED_PER_CHAT_MAX = 200;
const REPLIES_AT_ONCE = 50;

export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #dispatch: Dispatch;
  #stopFollowing: (() => void) | null = null;
  #wake: NodeJS.Immediate | null = null;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#dispatch = new Dispatch(deps);
  }

  /** Settles the work of the last run and begins to follow the log. */
  start(hooks: HookPort | null = null): void {
    this.#dispatch.start(hooks);
    this.#stopFollowing = this.#deps.log.onCommitted((events) => {
      if (events.some(isNews)) this.#wakeSoon();
    });
    this.#wakeSoon();
  }

  /** The names of the open channels. */
  get channels(): readonly string[] {
    return this.#dispatch.channels;
  }

  /** Sends queued messages of the port's channel through it, until the returned function is called. */
  open(port: ChannelPort): () => void {
    return this.#dispatch.open(port);
  }

  /**
   * Queues a message once per key: returns the existing message for a known key. Fails with `queue_full` if the chat has too many waiting,
   * and with a store error.
   */
  queue(item: NewOutbound): string {
    const { log, rows, ids } = this.#deps;
    return log.transact(() => {
      const known = rows.byKey(item.idempotencyKey);
      if (known !== null) return known;
      if (rows.countOpen(item.to) >= QUEUED_PER_CHAT_MAX) {
        throw new AppError('queue_full', `${QUEUED_PER_CHAT_MAX} messages already wait for that chat.`, {
          hint: `Find out what keeps the channel ${item.to.channel} from sending, or drop some with \`outbox settle\`.`,
        });
      }
      const outboundId = ids.next('out');
      log.append(item.sessionId, [{ type: 'outbound.queued', body: { ...item, outboundId } }]);
      return outboundId;
    });
  }

  /**
   * Queues a text for a person: to the chat used last (`last`), or to a known one (`channel:chat`). Returns the chat it is queued for; null
   * if there is none.
   */
  tell(to: string, { text, sessionId, turnId, key }: Notice): string | null {
    const chat = this.#chat(to);
    if (chat === null) return null;
    const address = { channel: chat.channel, chatId: chat.chatId, ...(chat.threadId === undefined ? {} : { threadId: chat.threadId }) };
    this.queue({ to: address, kind: 'notice', text, files: [], idempotencyKey: key, sessionId, turnId });
    return `${address.channel}:${address.chatId}`;
  }

  /** Returns whether `tell` would find a chat under this name. */
  knows(to: string): boolean {
    return this.#chat(to) !== null;
  }

  #chat(to: string): ReturnType<OutboxDeps['chats']['chat']> {
    const { chats } = this.#deps;
    if (to === 'last') return chats.lastUsed();
    const [channel = '', chatId = '', threadId] = to.split(':');
    return chats.chat({ channel, chatId, ...(threadId === undefined ? {} : { threadId }) });
  }

  list(query: OutboundQuery): OutboundInfo[] {
    return this.#deps.rows.list(query);
  }

  /** Applies a person's decision about an uncertain or failed message. Fails with `not_found` or `conflict`. */
  settle(outboundId: string, answer: 'sent' | 'resend' | 'drop', by: string): OutboundInfo {
    const { log, rows } = this.#deps;
    return log.transact(() => {
      const row = rows.row(outboundId);
      if (row === null) throw new AppError('not_found', `There is no outbound message ${outboundId}.`);
      if (row.state !== 'uncertain' && row.state !== 'failed' && !(row.state === 'queued' && answer === 'drop')) {
        throw new AppError('conflict', `The message ${outboundId} is ${row.state}; there is nothing to settle.`);
      }
      log.append(row.sessionId, [{ type: 'outbound.settled', body: { outboundId, answer, by } }]);
      const settled = rows.info(outboundId);
      if (settled === null) throw new AppError('internal', `the message ${outboundId} no longer exists after it was settled`);
      return settled;
    }, true);
  }

  async dispose(): Promise<void> {
    this.#stopFollowing?.();
    if (this.#wake !== null) clearImmediate(this.#wake);
    this.#wake = null;
    await this.#dispatch.dispose();
  }

  /** Runs after all listeners of the commit, because messages queued here need a separate commit. */
  #wakeSoon(): void {
    this.#wake ??= setImmediate(() => {
      this.#wake = null;
      this.#answerTurns();
      this.#dispatch.wake();
    });
  }

  #answerTurns(): void {
    const ended = this.#deps.chats.ended(REPLIES_AT_ONCE);
    const told = ended.filter((turn) => this.#attempt(turn));
    if (ended.length === REPLIES_AT_ONCE && told.length > 0) this.#wakeSoon();
  }

  /** An unreadable turn does not block the others. It stays open, and the next start tries it again. */
  #attempt(turn: ChatTurn): boolean {
    try {
      this.#answer(turn);
      return true;
    } catch (cause) {
      this.#deps.logger.log('error', 'the end of a turn could not be queued for its chat', { turnId: turn.turnId, cause: String(cause) });
      return false;
    }
  }

  #answer(turn: ChatTurn): void {
    const { log, chats, rows, ids } = this.#deps;
    const { turnId, sessionId, chat, messageId } = turn;
    const end = log.reads.turnEnd(sessionId, turnId);
    log.transact(() => {
      chats.told(turnId);
      // The turn's own message to this chat was the answer.
      if (end === null || (end.status === 'done' && rows.hasToldChat(turnId, chat))) return;
      const idempotencyKey = `reply:${turnId}`;
      if (rows.byKey(idempotencyKey) !== null) return;
      const outboundId = ids.next('out');
      const item: OutboundItem = {
        outboundId,
        to: chat,
        kind: 'reply',
        text: replyText(end).slice(0, TEXT_MAX),
        files: [],
        ...(messageId === null ? {} : { replyToMessageId: messageId }),
        idempotencyKey,
        sessionId,
        turnId,
      };
      const drafts: AnyDraft[] = [{ type: 'outbound.queued', body: item }];
      if (rows.countOpen(chat) >= QUEUED_PER_CHAT_MAX) {
        const error = `${QUEUED_PER_CHAT_MAX} messages already waited for that chat.`;
        drafts.push({ type: 'outbound.failed', body: { outboundId, part: 0, error, retryAtMs: null } });
      }
      log.append(sessionId, drafts);
    });
  }
}

const TEXT_MAX = 200_000;

/** Returns whether the event may allow a message to be sent. */
function isNews(event: AnyEvent): boolean {
  return (
    event.type === 'turn.finished' ||
    event.type === 'outbound.queued' ||
    event.type === 'outbound.settled' ||
    event.type === 'panic.released' ||
    event.type === 'panic.engaged'
  );
}

/** The chats and the outbox as the message tool uses them. */
export function createMessagePort(
  outbox: Pick<MessagePort, 'queue'>,
  chats: ChatRows,
  describeArtifact: MessagePort['describeArtifact'],
): MessagePort {
  return {
    titleOf: (chat) => chats.chat(chat)?.title ?? null,
    ofTurn: (turnId) => chats.ofTurn(turnId)?.chat ?? null,
    ofSession: (sessionId) => chats.ofSession(sessionId),
    lastUsed: (channel) => {
      const [last] = chats.chats({ channel, limit: 1 });
      return last === undefined ? null : addressOf(last);
    },
    describeArtifact,
    queue: (item) => outbox.queue(item),
  };
}

function addressOf({ channel, chatId, threadId }: ChatAddress): ChatAddress {
  return { channel, chatId, ...(threadId === undefined ? {} : { threadId }) };
}
