// One chat service as a channel: starts, pauses and stops the service, reports its state, and connects it with people, approvals and the
// outbox. Acts on the agent only through operations, like every other door.

import { stillRedacted } from '../../base/redacted.ts';
import type {
  Channel,
  ChannelLink,
  ChannelPort,
  ChatDesk,
  ChatLine,
  ChatService,
  OutboundItem,
  OutboundPart,
} from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyEvent } from '../../contracts/events.ts';
import type { Caller } from '../../contracts/ops.ts';
import type { ChannelStatus } from '../../contracts/features/channels.ts';
import {
  ChannelRun,
  chatWords,
  LiveReplies,
  Pairing,
  Questions,
  runCommand,
  Strangers,
  toldState,
  type QuestionDeps,
  type ServiceNames,
  type ServiceState,
} from '../../runtime/chats/chats.ts';
import type { Spine } from '../feature.ts';
import { ClosingQuestions } from './closing-questions.ts';
import { HeldMessages } from './held-messages.ts';
import { Reception } from './reception.ts';
import type { ServiceRows } from './rows.ts';

export interface ServiceChannelDeps extends Pick<Spine, 'log' | 'clock' | 'ids' | 'logger'> {
  readonly service: ChatService;
  readonly rows: ServiceRows;
  readonly approvals: QuestionDeps['approvals'];
  readonly servers: QuestionDeps['servers'];
  readonly randomInt: (below: number) => number;
  readonly nonce: () => string;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly every: (ms: number, run: () => void) => () => void;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly keep: QuestionDeps['keep'];
  readonly readFile: (sha256: string) => Uint8Array | null;
  readonly fileBytesMax: number;
  /** The agent that answers the first message of a chat. */
  readonly agentOf: (chatId: string) => string;
}

/** Event types after which a question may have to be asked, or may be over. */
const asking: ReadonlySet<string> = new Set(['approval.requested', 'mcp.asked', 'channel.paired', 'outbound.uncertain']);
const answering: ReadonlySet<string> = new Set(['approval.decided', 'mcp.answered', 'outbound.part_sent']);
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 60_000;
const REFUSED_MS = 60_000;
const REFUSED_MS_MAX = 300_000;
/** How often to check for a new secret after the old one was refused. */
const SECRET_LOOK_MS = 15_000;

/** State while the channel has joined the runtime. */
interface Joined {
  readonly link: ChannelLink;
  readonly claw: Pick<Claw, 'op' | 'onDelta'>;
  readonly questions: Questions;
  hasAnsweredLeft: boolean;
}

/** One connection, from the attempt to its end. */
interface Run {
  readonly reception: Reception;
  readonly held: HeldMessages;
  readonly signal: AbortSignal;
  isConnected: boolean;
}

/** State of a run from the moment it is connected until it ends. */
interface Online {
  readonly line: ChatLine;
  readonly live: LiveReplies | null;
  readonly signal: AbortSignal;
  stopHearing(): void;
  /** Null while the service cannot be reached. */
  closePort: (() => void) | null;
}

export class ServiceChannel {
  readonly pairing: Pairing;
  readonly #deps: ServiceChannelDeps;
  readonly #names: ServiceNames;
  readonly #strangers: Strangers;
  readonly #closing: ClosingQuestions;
  readonly #life: ChannelRun<Joined>;
  #me: string | null = null;
  #meId = '';
  #lastHeardMs: number | null = null;
  #online: Online | null = null;

  constructor(deps: ServiceChannelDeps) {
    const { name, title } = deps.service;
    this.#deps = deps;
    this.#names = { channel: name, title };
    this.pairing = new Pairing({ ...deps, store: deps.rows, names: this.#names });
    this.#strangers = new Strangers(deps.clock, this.#names);
    this.#closing = new ClosingQuestions(deps, name);
    const first = deps.service.isOff === true ? 'off' : 'starting';
    this.#life = new ChannelRun({ ...deps, channel: name, first, isPaused: () => deps.rows.isPaused }, (joined, signal) =>
      this.#run(joined, signal),
    );
  }

  get name(): string {
    return this.#deps.service.name;
  }

  get checkId(): string {
    return this.#deps.service.checkId ?? `channel-${this.name}`;
  }

  get me(): string {
    return this.#me ?? `the agent on ${this.#deps.service.title}`;
  }

  get meId(): string {
    return this.#meId;
  }

  get state(): ServiceState {
    return this.#life.status.state;
  }

  status(): ChannelStatus {
    return {
      channel: this.name,
      ...this.#life.status,
      ...toldState(this.state),
      me: this.#me,
      lastHeardMs: this.#lastHeardMs,
      people: this.#deps.rows.people().length,
      strangers: this.#strangers.count,
    };
  }

  /** Confirms a pairing. From now on messages can be sent to the person's chat. */
  confirm(pairingId: string, caller: Caller): void {
    const { userId, chatId, name } = this.pairing.confirm(pairingId, caller);
    this.#life.joined?.link.introduce({ chatId }, { kind: 'private', title: name, senderId: userId });
    this.#deps.queue({
      to: { channel: this.name, chatId },
      kind: 'notice',
      text: chatWords.welcome,
      files: [],
      idempotencyKey: `${this.name}-paired:${pairingId}`,
      sessionId: systemSessionId,
      turnId: null,
    });
  }

  channel(claw: Joined['claw']): Channel {
    const { service, rows } = this.#deps;
    const identities = { isOwner: (senderId: string) => rows.person(senderId) !== null };
    return { name: service.name, identities, rules: service.rules, join: (link) => this.#join(link, claw) };
  }

  setPaused(isPaused: boolean, by: string): void {
    this.#life.setPaused(isPaused, by);
  }

  #join(link: ChannelLink, claw: Joined['claw']): { dispose(): Promise<void> } {
    const { service, rows, log } = this.#deps;
    const questions = new Questions({
      ...this.#deps,
      claw,
      store: rows,
      names: this.#names,
      answers: service.answers,
      isPlain: service.isPlain,
    });
    // A service without an account cannot ask or show anything.
    const stopFollowing = service.isOff === true ? () => undefined : log.onCommitted((events) => this.#follow(events));
    const leave = this.#life.join({ link, claw, questions, hasAnsweredLeft: false });
    return {
      dispose: async () => {
        stopFollowing();
        await leave();
      },
    };
  }

  #follow(events: readonly AnyEvent[]): void {
    for (const event of events) {
      this.#online?.live?.follow(event);
      const { type } = event;
      if (asking.has(type)) this.#life.joined?.questions.askOpen();
      if (answering.has(type)) this.#closeAnswered();
    }
  }

  /** Never rejects. */
  async #run(joined: Joined, signal: AbortSignal): Promise<void> {
    const { service, logger } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      const over = new AbortController();
      const run = this.#createRun(joined, AbortSignal.any([signal, over.signal]));
      const secret = await this.#secret();
      try {
        await service.run(this.#desk(joined, run), signal);
      } catch (cause) {
        if (signal.aborted) break;
        const error = toAppError(cause);
        const { code, message } = error;
        logger.log('warn', 'a chat service could not be used', { channel: service.name, code, cause: message });
        this.#life.set(code === 'unauthorized' ? 'refused' : 'offline', error.told());
      } finally {
        // Files still being fetched and questions still being closed are left to the next connection.
        over.abort();
        await this.#leave();
        await run.held.idle();
      }
      failures = run.isConnected ? 0 : failures + 1;
      if (!signal.aborted) await this.#rest(RETRY_MS * 2 ** Math.min(failures, 10), secret, signal);
    }
  }

  /** Waits before the next attempt: longer after a refusal, unless the secret is replaced. */
  async #rest(growingMs: number, secret: string | null, signal: AbortSignal): Promise<void> {
    const { wait } = this.#deps;
    if (this.state !== 'refused') {
      await wait(Math.min(growingMs, RETRY_MS_MAX), signal);
      return;
    }
    for (let leftMs = Math.min(Math.max(REFUSED_MS, growingMs), REFUSED_MS_MAX); leftMs > 0 && !signal.aborted; leftMs -= SECRET_LOOK_MS) {
      await wait(SECRET_LOOK_MS, signal);
      if ((await this.#secret()) !== secret) return;
    }
  }

  async #secret(): Promise<string | null> {
    try {
      return (await this.#deps.service.secret?.()) ?? null;
    } catch {
      // The next run reports the problem with the secret.
      return null;
    }
  }

  #createRun(joined: Joined, signal: AbortSignal): Run {
    const { service } = this.#deps;
    const reception = new Reception({
      ...this.#deps,
      ...joined,
      pairing: this.pairing,
      strangers: this.#strangers,
      me: () => this.#me ?? service.name,
      heard: () => {
        this.#lastHeardMs = this.#deps.clock.nowMs();
      },
      command: (call) => runCommand({ ...this.#deps, ...joined, names: this.#names, mayDecide: service.answers === 'buttons' }, call),
      began: (turnId, { chatId, threadId, kind }) => {
        const place = { chatId, ...(threadId === undefined ? {} : { threadId }) };
        this.#online?.live?.begin(turnId, { ...place, isPrivate: kind === 'private' });
      },
      wakeHeld: () => held.wake(),
      say: () => this.#sayer(),
    });
    const held = new HeldMessages(
      {
        ...this.#deps,
        channel: service.name,
        title: service.title,
        splitTexts: service.splitTexts,
        fetchFile: () => this.#online?.line.fetchFile,
        hand: (message) => reception.hand(message),
        queueNotice: (...notice) => reception.queueNotice(...notice),
      },
      signal,
    );
    return { reception, held, signal, isConnected: false };
  }

  #sayer(): ((chatId: string, text: string) => void) | null {
    const screen = this.#online?.line.live;
    return screen === undefined ? null : (chatId, text) => void screen.send(chatId, text).catch((cause: unknown) => this.#note(cause));
  }

  #desk(joined: Joined, run: Run): ChatDesk {
    const { rows, log, readFile } = this.#deps;
    const { reception, signal } = run;
    return {
      online: (line, conflict) => {
        if (signal.aborted) return;
        run.isConnected = true;
        this.#goOnline(joined, line, signal);
        this.#life.set(conflict === undefined ? 'running' : 'conflict', conflict ?? null);
        run.held.wake();
        // Only for commands of the program's last run. Commands of this run are already being answered.
        if (!joined.hasAnsweredLeft) void reception.answerLeft().catch((cause: unknown) => this.#note(cause));
        joined.hasAnsweredLeft = true;
      },
      offline: (problem) => {
        // A service that is stopped reports a lost connection. The state is already that of the pause.
        if (signal.aborted) return;
        this.#closePort();
        this.#life.set('offline', problem);
      },
      knows: (senderId) => reception.knows(senderId),
      take: (message) => reception.take(message),
      stopFirst: (messages) => reception.stopFirst(messages),
      press: (press) => joined.questions.press(press),
      note: (key) => rows.note(key),
      setNote: (key, value) => {
        if (rows.note(key) !== value)
          log.append(systemSessionId, [{ type: 'channel.noted', body: { channel: this.name, note: key, value } }]);
      },
      readFile,
    };
  }

  #goOnline(joined: Joined, line: ChatLine, signal: AbortSignal): void {
    const { log, clock, logger, every } = this.#deps;
    if (this.#online?.line !== line) {
      void this.#leave();
      const live = line.live === undefined ? null : new LiveReplies({ log, clock, logger, every, screen: line.live, channel: this.name });
      const stopHearing = joined.claw.onDelta((delta) => live?.hear(delta));
      this.#online = { line, live, signal, stopHearing, closePort: null };
      this.#me = line.me;
      this.#meId = line.meId ?? '';
    }
    if (this.#online.closePort !== null) return;
    this.#online.closePort = joined.link.open(this.#portOver(line.port, this.#online.live));
    joined.questions.askOpen();
    this.#closeAnswered();
  }

  #closePort(): void {
    this.#online?.closePort?.();
    if (this.#online !== null) this.#online.closePort = null;
  }

  async #leave(): Promise<void> {
    const online = this.#online;
    this.#closePort();
    this.#online = null;
    online?.stopHearing();
    await online?.live?.dispose();
  }

  /** Wraps the port: an answer replaces its preview, and a question answered in the meantime shows its outcome and has no buttons. */
  #portOver(port: ChannelPort, live: LiveReplies | null): ChannelPort {
    const { rows } = this.#deps;
    return {
      name: port.name,
      maxFileBytes: port.maxFileBytes,
      ...(port.deduplicates === undefined ? {} : { deduplicates: port.deduplicates }),
      ...(port.deduplicatesMs === undefined ? {} : { deduplicatesMs: port.deduplicatesMs }),
      split: (item) => port.split(item),
      send: async (part, signal) => {
        const { item } = part;
        if (item.turnId !== null) await live?.end(item.turnId);
        const shown = part.part === 0 && item.kind === 'reply' && item.turnId !== null ? rows.preview(item.turnId) : null;
        const shownIn = shown?.chatId === item.to.chatId ? { shownIn: shown.messageId } : {};
        return port.send({ ...this.#asAnswered(part, port), ...shownIn }, signal);
      },
    };
  }

  #asAnswered(part: OutboundPart, port: ChannelPort): OutboundPart {
    if (part.item.kind !== 'question') return part;
    const answer = this.#life.joined?.questions.answerOf(part.item.outboundId) ?? null;
    if (answer === null) return part;
    const { buttons: _gone, ...rest } = part.item;
    const item = stillRedacted<OutboundItem>(rest);
    // An item's files are in the same part as its text, or in parts after it.
    const isLast = part.text !== '' && part.part === part.parts - 1 - (part.files.length > 0 ? 0 : item.files.length);
    return { ...part, item, text: isLast ? `${part.text}\n\n${port.escape?.(answer) ?? answer}` : part.text };
  }

  #closeAnswered(): void {
    const { questions } = this.#life.joined ?? {};
    if (questions !== undefined && this.#online !== null) this.#closing.closeAnswered(questions, this.#online.line, this.#online.signal);
  }

  #note(cause: unknown): void {
    this.#deps.logger.log('warn', 'a chat service could not do all of its work', { channel: this.name, cause: String(cause) });
  }
}
