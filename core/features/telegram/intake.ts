// Incoming updates: each is processed once, has its effect or its durable record, and is then confirmed. Identity is only the numeric id in
// the row of a paired person; strangers leave nothing but a count.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ChannelInbound, ChannelLink, ChannelRules, OutboundItem } from '../../contracts/channels.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { HeldMessage } from '../../contracts/features/telegram.ts';
import {
  chatWords,
  isHarmless,
  looksLikeCode,
  readCommand,
  refusalWords,
  type CommandAnswer,
  type CommandCall,
  type Pairing,
  type Questions,
  type Strangers,
} from '../../runtime/chats/chats.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { Update } from './bot-api.ts';
import { readMessage, type Bot } from './read-message.ts';
import type { TelegramStore } from './rows.ts';

export interface IntakeDeps {
  readonly log: SessionLog;
  readonly store: TelegramStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bot: Bot;
  readonly rules: ChannelRules;
  readonly pairing: Pick<Pairing, 'claim'>;
  readonly questions: Pick<Questions, 'press'>;
  readonly strangers: Pick<Strangers, 'meet'>;
  readonly link: Pick<ChannelLink, 'receive'>;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly command: (call: CommandCall) => Promise<CommandAnswer>;
  /** A message with files was recorded: they can be fetched. */
  readonly wakeFiles: () => void;
  /** A message became a turn. */
  readonly began: (turnId: string, message: Pick<HeldMessage, 'chatId' | 'kind'>) => void;
  /** Best effort, to an unpaired person or under a button. */
  readonly say: (chatId: string, text: string) => void;
  readonly answerPress: (queryId: string, words: string) => void;
}

/** After this long, new updates are checked: one may be the panic stop. */
const TAKING_MS_MAX = 40;

/** partly: the rest is requested again. later: all of it is, because something is more urgent. */
export type Taken = 'taken' | 'partly' | 'later';

export class Intake {
  readonly #deps: IntakeDeps;
  /** The newest update that stopped everything ahead of its turn. */
  #stoppedAt = -1;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /** Fails with a store error; unconfirmed updates come again. */
  take(updates: readonly Update[], waitedMs: number): Taken {
    const { clock, log, bot } = this.#deps;
    if (this.#stopFirst(updates, waitedMs)) return 'later';
    const endMs = clock.monotonicMs() + TAKING_MS_MAX;
    let passed = 0;
    let strangers = 0;
    let last: Update | undefined;
    for (const update of updates) {
      if (last !== undefined && clock.monotonicMs() >= endMs) break;
      const effect = this.#takeSafely(update, waitedMs);
      if (effect === 'none') passed += 1;
      if (effect === 'stranger') strangers += 1;
      last = update;
    }
    if (last !== undefined && passed + strangers > 0) {
      const body = { botId: bot.botId, offset: last.update_id + 1, updates: passed + strangers, strangers };
      log.append(systemSessionId, [{ type: 'telegram.updates_taken', body }]);
    }
    return last === updates.at(-1) ? 'taken' : 'partly';
  }

  /**
   * A panic stop is handled before earlier messages, so that nothing delays ending the processes. It is handled again in its turn, which
   * changes nothing and answers it.
   */
  #stopFirst(updates: readonly Update[], waitedMs: number): boolean {
    for (const update of updates.slice(1)) {
      const message = update.message === undefined ? null : readMessage(update.message, update.update_id, this.#deps.bot);
      if (message === null || update.update_id <= this.#stoppedAt || this.#commandOf(message)?.name !== 'panic') continue;
      this.#stoppedAt = update.update_id;
      void this.#deps.command({ name: 'panic', rest: '', userId: message.senderId, chatId: message.chatId, waitedMs });
      return true;
    }
    return false;
  }

  /** A command the owner typed in their own chat, not a forwarded one. */
  #commandOf(message: HeldMessage): ReturnType<typeof readCommand> {
    const isOwner = this.#deps.store.person(message.senderId) !== null;
    return isOwner && message.kind === 'private' && message.forwardedFrom === null ? this.#readCommand(message) : null;
  }

  /** An update that cannot be handled is skipped, or it would come for ever; one that could not be stored comes again. */
  #takeSafely(update: Update, waitedMs: number): 'taken' | 'none' | 'stranger' {
    try {
      return this.#takeOne(update, waitedMs);
    } catch (cause) {
      if (isAppError(cause) && (cause.code.startsWith('store_') || cause.code === 'shutting_down')) throw cause;
      this.#deps.logger.log('error', 'an update of Telegram could not be handled', { update: update.update_id, cause: String(cause) });
      return 'none';
    }
  }

  #takeOne(update: Update, waitedMs: number): 'taken' | 'none' | 'stranger' {
    if (update.callback_query !== undefined) return this.#takePress(update.update_id, update.callback_query, waitedMs);
    // An edited message was already handled; the edit has no effect.
    if (update.message === undefined) return 'none';
    const message = readMessage(update.message, update.update_id, this.#deps.bot);
    if (message === null) return 'none';
    const isOwner = this.#deps.store.person(message.senderId) !== null;
    if (!isOwner && !this.#deps.rules.allowFrom.includes(message.senderId)) return this.#meetStranger(message);
    if (message.kind === 'group' && (this.#deps.rules.groups === 'off' || !this.#isMeant(message))) return 'none';
    const command = this.#commandOf(message);
    if (command !== null) return this.#takeCommand(message, command, waitedMs);
    if (message.text.trim() === '' && message.files.length === 0) {
      return this.#tell(message, 'I can read texts, photos and files, and this was none of them.');
    }
    return this.#takeMessage(message);
  }

  /** Only one message of an album in a group has text, and it comes first. */
  #isMeant(message: HeldMessage): boolean {
    return message.mentioned || (message.albumId !== undefined && albumOf(message, this.#deps.store.held()).length > 0);
  }

  #readCommand({ text, files }: HeldMessage): ReturnType<typeof readCommand> {
    return files.length > 0 ? null : readCommand(text, this.#deps.bot.username);
  }

  #meetStranger(message: HeldMessage): 'taken' | 'stranger' {
    const { pairing, say, strangers } = this.#deps;
    // A group is not a person, and everyone in it would read an answer.
    if (message.kind === 'group') return 'stranger';
    const text = message.text.trim().replace(/^\/start\s+/, '');
    if (!looksLikeCode(text)) {
      strangers.meet(message.senderId, (words) => say(message.chatId, words));
      return 'stranger';
    }
    const { result, drafts } = pairing.claim(text, { userId: message.senderId, chatId: message.chatId, name: message.senderName });
    if (result === 'claimed') {
      this.#commit(message.updateId, () => drafts);
      say(message.chatId, chatWords.claimed(message.senderName, message.senderId));
      return 'taken';
    }
    if (result === 'wrong') say(message.chatId, chatWords.wrongCode);
    else strangers.meet(message.senderId, (words) => say(message.chatId, words));
    return 'stranger';
  }

  #takeMessage(message: HeldMessage): 'taken' {
    const { store, wakeFiles } = this.#deps;
    const waits =
      message.files.length > 0 || store.held().some(({ chatId, command }) => chatId === message.chatId && command === undefined);
    if (waits) {
      this.#commit(message.updateId, () => [{ type: 'telegram.message_held', body: { message } }]);
      wakeFiles();
      return 'taken';
    }
    let isTaken = false;
    const problem = this.hand(message, [], () => {
      this.#commit(message.updateId, () => []);
      isTaken = true;
    });
    if (problem !== null) return this.#tell(message, problem);
    // It was recorded before, or is not for us: nothing is left to do.
    if (!isTaken) this.#commit(message.updateId, () => []);
    return 'taken';
  }

  /** Hands a message on. Returns what its sender has to know where it was not taken; fails with a store error or `shutting_down`. */
  hand(message: HeldMessage, attachments: ChannelInbound['attachments'], alongside: () => void): string | null {
    try {
      const receipt = this.#deps.link.receive({ ...inboundOf(message, attachments), alongside });
      if (receipt.kind === 'accepted') this.#deps.began(receipt.turnId, message);
      return null;
    } catch (cause) {
      return refusalWords(cause);
    }
  }

  /**
   * A command is taken before it has its effect: nothing is done twice. The panic stop the other way round: it must be done. Either way it is
   * held until its answer is queued.
   */
  #takeCommand(message: HeldMessage, { name, rest }: { name: string; rest: string }, waitedMs: number): 'taken' {
    const { clock, command } = this.#deps;
    const ageMs = clock.nowMs() - message.atMs;
    const call = {
      name,
      rest,
      userId: message.senderId,
      chatId: message.chatId,
      waitedMs: Math.max(ageMs, ageMs < -60_000 ? waitedMs : 0),
    };
    const hold = (): void => {
      this.#commit(message.updateId, () => [{ type: 'telegram.message_held', body: { message: { ...message, command: true } } }]);
    };
    if (name !== 'panic') hold();
    const answering = command(call);
    if (name === 'panic') hold();
    this.#answer(message, answering);
    return 'taken';
  }

  /** Commands the last run took and did not answer. What may have been done is not done again. */
  answerLeft(): void {
    const { store, bot, command } = this.#deps;
    for (const message of store.held()) {
      const said = message.command === true && message.botId === bot.botId ? this.#readCommand(message) : null;
      if (said === null) continue;
      const call = { ...said, userId: message.senderId, chatId: message.chatId, waitedMs: Number.MAX_SAFE_INTEGER };
      if (said.name === 'panic') {
        const status = command({ ...call, name: 'status', rest: '' });
        this.#answer(
          message,
          status.then(({ text }) => ({ text, aboutPanic: true })),
        );
      } else if (isHarmless(said)) this.#answer(message, command(call));
      else this.#answer(message, Promise.resolve({ text: chatWords.unsure(said.name) }));
    }
  }

  /** The answer and the end of the command, together or not at all. */
  #answer(message: HeldMessage, answering: Promise<CommandAnswer>): void {
    const { log, logger, bot } = this.#deps;
    void answering
      .then(({ text, aboutPanic }) => {
        log.transact(() => {
          this.#queueNotice(message, text, aboutPanic);
          const body = { botId: bot.botId, updateId: message.updateId, problem: null };
          log.append(systemSessionId, [{ type: 'telegram.message_passed', body }]);
        });
      })
      .catch((cause: unknown) => logger.log('error', 'the answer to a command could not be queued', { cause: String(cause) }));
  }

  #takePress(updateId: number, query: NonNullable<Update['callback_query']>, waitedMs: number): 'taken' | 'none' {
    const { questions, answerPress, logger } = this.#deps;
    const chatId = String(query.message?.chat.id ?? '');
    // Decided before this returns, and only then taken; pressed again after a crash it is found answered.
    void questions
      .press({ userId: String(query.from.id), chatId, data: query.data ?? '', waitedMs })
      .then((words) => answerPress(query.id, words))
      .catch((cause: unknown) => logger.log('error', 'a button could not be answered', { cause: String(cause) }));
    this.#commit(updateId, () => []);
    return 'taken';
  }

  #tell(message: HeldMessage, text: string): 'taken' {
    this.#commit(message.updateId, () => {
      this.#queueNotice(message, text);
      return [];
    });
    return 'taken';
  }

  #queueNotice({ chatId, updateId, messageId }: HeldMessage, text: string, aboutPanic?: true): void {
    const { queue, bot } = this.#deps;
    queue({
      to: { channel: 'telegram', chatId },
      kind: 'notice',
      text,
      files: [],
      replyToMessageId: messageId,
      idempotencyKey: `telegram-answer:${bot.botId}:${updateId}`,
      sessionId: systemSessionId,
      turnId: null,
      ...(aboutPanic === undefined ? {} : { aboutPanic }),
    });
  }

  /** The effect and the update it came from, together or not at all. */
  #commit(updateId: number, effect: () => readonly AnyDraft[]): void {
    const { log, bot } = this.#deps;
    log.transact(() => {
      const body = { botId: bot.botId, offset: updateId + 1, updates: 1, strangers: 0 };
      log.append(systemSessionId, [...effect(), { type: 'telegram.updates_taken', body }], true);
    }, true);
  }
}

/** The messages of this album that wait, in the order they came. */
export function albumOf({ botId, chatId, senderId, albumId }: HeldMessage, held: readonly HeldMessage[]): HeldMessage[] {
  return held.filter((one) => one.albumId === albumId && one.chatId === chatId && one.senderId === senderId && one.botId === botId);
}

export function inboundOf(message: HeldMessage, attachments: ChannelInbound['attachments']): ChannelInbound {
  const { botId, updateId, replyTo, forwardedFrom } = message;
  return {
    channel: 'telegram',
    chatId: message.chatId,
    kind: message.kind,
    senderId: message.senderId,
    senderName: message.senderName,
    dedupeKey: `${botId}:${updateId}`,
    messageId: message.messageId,
    text: message.text,
    attachments,
    ...(replyTo === null
      ? {}
      : {
          replyTo: {
            text: replyTo.text,
            fromAgent: replyTo.fromAgent,
            ...(replyTo.messageId === null ? {} : { messageId: replyTo.messageId }),
          },
        }),
    ...(forwardedFrom === null ? {} : { forwardedFrom }),
    mentioned: message.mentioned,
    atMs: message.atMs,
  };
}

export function tooBig(name: string, sizeBytesMax: number): AppError {
  return new AppError('payload_too_large', `"${name}" is larger than ${Math.floor(sizeBytesMax / 1_000_000)} MB.`, {
    data: { hint: 'Send a smaller one, or put it into the workspace.' },
  });
}
