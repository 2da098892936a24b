// Receives the messages of a chat service. Each message is handled once and committed before the service acknowledges it. A message of a
// stranger leaves only a count and, with a valid code, a pairing to confirm.

import type { ChannelInbound, ChannelLink, ChatService, OutboundItem } from '../../contracts/channels.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { TakenCommand } from '../../contracts/features/channels.ts';
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
import type { Spine } from '../feature.ts';
import { albumOf, textAlbumOf } from './album.ts';
import { heldOf } from './held-messages.ts';
import type { ServiceRows } from './rows.ts';

export interface ReceptionDeps extends Pick<Spine, 'clock' | 'logger'> {
  readonly service: ChatService;
  readonly log: Pick<SessionLog, 'transact' | 'append'>;
  readonly rows: Pick<ServiceRows, 'person' | 'isTaken' | 'leftCommands' | 'held'>;
  readonly pairing: Pick<Pairing, 'claim'>;
  readonly questions: Pick<Questions, 'answerByCode'>;
  readonly strangers: Pick<Strangers, 'meet' | 'count'>;
  readonly link: Pick<ChannelLink, 'receive'>;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly command: (call: CommandCall) => Promise<CommandAnswer>;
  readonly me: () => string;
  /** Called when a paired person has written. */
  readonly heard: () => void;
  /** Called when a message has started a turn. */
  readonly began: (turnId: string, message: ChannelInbound) => void;
  /** Called when a message with files was recorded, so that they can be fetched. */
  readonly wakeHeld: () => void;
  /** Sends a text once, best effort. Null if the service can send only through the outbox. */
  readonly say: () => ((chatId: string, text: string) => void) | null;
}

/** A message dated further in the future comes from an unreliable clock. */
const FUTURE_MS_MAX = 60_000;

export class Reception {
  readonly #deps: ReceptionDeps;
  /** Keys of messages whose panic stop was performed ahead of their turn. */
  readonly #stopped = new Set<string>();

  constructor(deps: ReceptionDeps) {
    this.#deps = deps;
  }

  knows(senderId: string): boolean {
    const { rows, service } = this.#deps;
    return rows.person(senderId) !== null || service.rules.allowFrom.includes(senderId);
  }

  /** Resolves once the message is committed. Rejects with a store error or `shutting_down`. */
  async take(sent: ChannelInbound): Promise<void> {
    const { service, rows, wakeHeld } = this.#deps;
    if (sent.edited === true || rows.isTaken(sent.dedupeKey)) return;
    if (!this.knows(sent.senderId)) {
      this.#meetStranger(sent);
      return;
    }
    const message = { ...sent, ...textAlbumOf(sent, service.splitTexts, () => rows.held()) };
    if (message.kind === 'group' && (service.rules.groups === 'off' || !this.#isMeant(message))) return;
    this.#deps.heard();
    if (await this.#decides(message)) return;
    const { files = [], attachments } = message;
    if (message.text.trim() === '' && attachments.length + files.length === 0) {
      this.#tell(message, 'I can read texts and files, and this was none of them.');
      return;
    }
    if (files.length > 0 || (attachments.length === 0 && this.#waits(message))) {
      const body = { channel: service.name, key: message.dedupeKey, message: heldOf(message) };
      this.#deps.log.append(systemSessionId, [{ type: 'channel.message_held', body }], true);
      wakeHeld();
      return;
    }
    const problem = this.hand(message);
    if (problem !== null) this.#tell(message, problem);
  }

  /** True for a part of an album or of a text, and behind a held message of the same chat. */
  #waits({ albumId, chatId }: ChannelInbound): boolean {
    return albumId !== undefined || this.#deps.rows.held().some(({ message }) => message.chatId === chatId);
  }

  /** See `ChatDesk.stopFirst`. */
  stopFirst(messages: readonly ChannelInbound[]): boolean {
    const { rows, command } = this.#deps;
    for (const message of messages) {
      if (this.#stopped.has(message.dedupeKey) || rows.isTaken(message.dedupeKey) || this.#commandOf(message)?.name !== 'panic') continue;
      this.#stopped.add(message.dedupeKey);
      void command({ name: 'panic', rest: '', userId: message.senderId, chatId: message.chatId, waitedMs: this.#ageOf(message) });
      return true;
    }
    return false;
  }

  /** True if the message is meant for the agent. In a group only the first message of an album mentions the agent. */
  #isMeant(message: ChannelInbound): boolean {
    return message.mentioned || (message.albumId !== undefined && albumOf(message, this.#deps.rows.held()).length > 0);
  }

  /** Only the owner's own text in a private chat answers an approval or is a command. */
  #isOwn(message: ChannelInbound): boolean {
    const isOwner = this.#deps.rows.person(message.senderId) !== null;
    return isOwner && message.kind === 'private' && message.forwardedFrom === undefined;
  }

  #commandOf(message: ChannelInbound): ReturnType<typeof readCommand> {
    const hasFiles = message.attachments.length > 0 || (message.files ?? []).length > 0;
    return hasFiles || !this.#isOwn(message) ? null : readCommand(message.text, this.#deps.me());
  }

  async #decides(message: ChannelInbound): Promise<boolean> {
    const { service, questions } = this.#deps;
    if (service.answers === 'codes' && this.#isOwn(message)) {
      const from = { userId: message.senderId, chatId: message.chatId, waitedMs: this.#ageOf(message) };
      const words = await questions.answerByCode(message.text, from);
      if (words !== null) {
        this.#tell(message, words);
        return true;
      }
    }
    const said = this.#commandOf(message);
    if (said !== null) this.#takeCommand(message, said);
    return said !== null;
  }

  #ageOf({ atMs, waitedMs = Number.MAX_SAFE_INTEGER }: ChannelInbound): number {
    const ageMs = this.#deps.clock.nowMs() - atMs;
    return ageMs < -FUTURE_MS_MAX ? waitedMs : Math.max(0, ageMs);
  }

  #meetStranger(message: ChannelInbound): void {
    const { pairing, strangers } = this.#deps;
    // A group is not a person, and everyone in it would read an answer.
    if (message.kind === 'group') return;
    const text = message.text.trim().replace(/^\/start\s+/, '');
    const { senderId: userId, senderName: name, chatId } = message;
    const claim = looksLikeCode(text) ? pairing.claim(text, { userId, chatId, name }) : null;
    if (claim?.result === 'claimed') {
      this.#tellStranger(message, chatWords.claimed(name, userId), claim.drafts);
    } else if (claim?.result === 'wrong') {
      strangers.count += 1;
      this.#tellStranger(message, chatWords.wrongCode);
    } else strangers.meet(userId, (words) => this.#tellStranger(message, words));
  }

  /** Answers a stranger without a record if the service can send directly, except for the code of a pairing. */
  #tellStranger(message: ChannelInbound, text: string, drafts: readonly AnyDraft[] = []): void {
    if (!this.#deps.service.answersStrangers && drafts.length === 0) return;
    const say = this.#deps.say();
    if (say === null) {
      this.#tell(message, text, drafts);
      return;
    }
    if (drafts.length > 0) this.#commit(message.dedupeKey, { drafts });
    say(message.chatId, text);
  }

  /** Returns the reply for the sender if the message was not accepted. */
  hand(message: ChannelInbound): string | null {
    try {
      const receipt = this.#deps.link.receive(message);
      if (receipt.kind === 'accepted') this.#deps.began(receipt.turnId, message);
      return null;
    } catch (cause) {
      return refusalWords(cause);
    }
  }

  /**
   * Records a command before it performs it, so that nothing runs twice. The panic stop runs first, because it must not be missed. Either
   * way the record is kept until the answer is queued.
   */
  #takeCommand(message: ChannelInbound, said: { name: string; rest: string }): void {
    const { command, logger } = this.#deps;
    const held: TakenCommand = {
      userId: message.senderId,
      chatId: message.chatId,
      ...(message.threadId === undefined ? {} : { threadId: message.threadId }),
      ...(message.messageId === undefined ? {} : { messageId: message.messageId }),
      text: message.text.slice(0, 2_000),
    };
    const call = { ...said, userId: held.userId, chatId: held.chatId, ...threadOf(held), waitedMs: this.#ageOf(message) };
    const hold = (): void => this.#commit(message.dedupeKey, { command: held });
    if (said.name !== 'panic') hold();
    const answering = command(call);
    if (said.name === 'panic') hold();
    this.#stopped.delete(message.dedupeKey);
    void answering
      .then((answer) => this.#answer(message.dedupeKey, held, answer))
      .catch((cause: unknown) => logger.log('error', 'the answer to a command could not be queued', { cause: String(cause) }));
  }

  /** Answers the commands that the last run took and did not answer. Does not repeat their effects. */
  async answerLeft(): Promise<void> {
    const { rows, command, me } = this.#deps;
    for (const { key, command: held } of rows.leftCommands()) {
      const said = readCommand(held.text, me()) ?? { name: '', rest: '' };
      const call = { ...said, userId: held.userId, chatId: held.chatId, ...threadOf(held), waitedMs: Number.MAX_SAFE_INTEGER };
      if (said.name === 'panic') {
        const { text } = await command({ ...call, name: 'status', rest: '' });
        this.#answer(key, held, { text, aboutPanic: true });
      } else if (isHarmless(said)) this.#answer(key, held, await command(call));
      else this.#answer(key, held, { text: chatWords.unsure(said.name) });
    }
  }

  /** Queues the answer and ends the command in one transaction. */
  #answer(key: string, to: TakenCommand, { text, aboutPanic }: CommandAnswer): void {
    const { log, service } = this.#deps;
    log.transact(() => {
      this.queueNotice(key, to, { text, ...(aboutPanic === undefined ? {} : { aboutPanic }) });
      log.append(systemSessionId, [{ type: 'channel.command_answered', body: { channel: service.name, key } }]);
    });
  }

  #tell(message: ChannelInbound, text: string, drafts: readonly AnyDraft[] = []): void {
    this.#commit(message.dedupeKey, { drafts, effect: () => this.queueNotice(message.dedupeKey, message, { text }) });
  }

  queueNotice(
    key: string,
    to: { readonly chatId: string; readonly threadId?: string | undefined; readonly messageId?: string | undefined },
    words: CommandAnswer,
  ): void {
    const { queue, service } = this.#deps;
    queue({
      to: { channel: service.name, chatId: to.chatId, ...threadOf(to) },
      kind: 'notice',
      files: [],
      ...(to.messageId === undefined ? {} : { replyToMessageId: to.messageId }),
      idempotencyKey: `${service.name}-answer:${key}`,
      sessionId: systemSessionId,
      turnId: null,
      ...words,
    });
  }

  /** Commits the effect and the message that caused it in one transaction. */
  #commit(
    key: string,
    { command, drafts = [], effect }: { command?: TakenCommand; drafts?: readonly AnyDraft[]; effect?: () => void },
  ): void {
    const { log, service } = this.#deps;
    log.transact(() => {
      effect?.();
      const body = { channel: service.name, key, ...(command === undefined ? {} : { command }) };
      log.append(systemSessionId, [...drafts, { type: 'channel.message_taken', body }], true);
    }, true);
  }
}

const threadOf = ({ threadId }: { readonly threadId?: string | undefined }) => (threadId === undefined ? {} : { threadId });
