// One chat service as a channel: starts, pauses and stops it, reports its state, and connects it with people, approvals and the outbox. It
// acts on the agent only through operations, like every other door.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
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
import type { ChannelState, ChannelStatus } from '../../contracts/features/channels.ts';
import {
  ChannelRun,
  chatWords,
  LiveReplies,
  Pairing,
  Questions,
  runCommand,
  Strangers,
  type QuestionDeps,
  type ServiceNames,
} from '../../runtime/chats/chats.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { Reception } from './reception.ts';
import { recordsOf, runRecordsOf, type ServiceRows } from './rows.ts';

export interface ServiceChannelDeps {
  readonly service: ChatService;
  readonly rows: ServiceRows;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly approvals: QuestionDeps['approvals'];
  readonly servers: QuestionDeps['servers'];
  readonly randomInt: (below: number) => number;
  readonly nonce: () => string;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly every: (ms: number, run: () => void) => () => void;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly keep: QuestionDeps['keep'];
  readonly readFile: (sha256: string) => Uint8Array | null;
}

/** After these something may have to be asked, or a question may be over. */
const asking: ReadonlySet<string> = new Set(['approval.requested', 'mcp.asked', 'channel.paired', 'outbound.uncertain']);
const answering: ReadonlySet<string> = new Set(['approval.decided', 'mcp.answered', 'outbound.part_sent']);
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 300_000;
const REFUSED_MS = 60_000;

/** While it has joined. */
interface Joined {
  readonly link: ChannelLink;
  readonly claw: Pick<Claw, 'op' | 'onDelta'>;
  readonly questions: Questions;
  hasAnsweredLeft: boolean;
}

/** While it is connected. */
interface Online {
  readonly line: ChatLine;
  readonly live: LiveReplies | null;
  close(): void;
}

export class ServiceChannel {
  readonly pairing: Pairing;
  readonly #deps: ServiceChannelDeps;
  readonly #names: ServiceNames;
  readonly #strangers: Strangers;
  readonly #closing = new Set<string>();
  readonly #life: ChannelRun<Joined, ChannelState>;
  #me: string | null = null;
  #lastHeardMs: number | null = null;
  #online: Online | null = null;

  constructor(deps: ServiceChannelDeps) {
    const { name, title } = deps.service;
    this.#deps = deps;
    this.#names = {
      channel: name,
      title,
      pairCommand: `trayclaw channels pair ${name}`,
      listCommand: 'trayclaw channels people',
    };
    this.pairing = new Pairing({ ...deps, store: deps.rows, records: recordsOf(name), names: this.#names });
    this.#strangers = new Strangers(deps.clock, this.#names);
    this.#life = new ChannelRun(
      { ...deps, channel: name, first: 'starting', isPaused: () => deps.rows.isPaused, records: runRecordsOf(name) },
      (joined, signal) => this.#run(joined, signal),
    );
  }

  get name(): string {
    return this.#deps.service.name;
  }

  get me(): string {
    return this.#me ?? `the agent on ${this.#deps.service.title}`;
  }

  status(): ChannelStatus {
    return {
      channel: this.name,
      ...this.#life.status,
      me: this.#me,
      lastHeardMs: this.#lastHeardMs,
      people: this.#deps.rows.people().length,
      strangers: this.#strangers.count,
    };
  }

  /** The chat of a person who was just paired can receive messages from now on. */
  welcome(pairingId: string, person: { readonly userId: string; readonly chatId: string; readonly name: string }): void {
    const { chatId } = person;
    this.#life.joined?.link.introduce({ chatId }, { kind: 'private', title: person.name, senderId: person.userId });
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
    const records = recordsOf(this.name);
    const questions = new Questions({ ...this.#deps, claw, store: rows, records, names: this.#names, answers: service.answers });
    const stopFollowing = log.onCommitted((events) => this.#follow(events));
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
    const { service, wait, logger } = this.#deps;
    let failures = 0;
    while (!signal.aborted) {
      const run = { isConnected: false };
      try {
        await service.run(this.#desk(joined, signal, run), signal);
      } catch (cause) {
        if (signal.aborted) break;
        const error = toAppError(cause);
        const { code, message } = error;
        logger.log('warn', 'a chat service could not be used', { channel: service.name, code, cause: message });
        this.#life.set(code === 'unauthorized' ? 'refused' : 'offline', error.told());
      } finally {
        await this.#leave();
      }
      failures = run.isConnected ? 0 : failures + 1;
      const growingMs = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), RETRY_MS_MAX);
      if (!signal.aborted) await wait(this.#life.status.state === 'refused' ? Math.max(REFUSED_MS, growingMs) : growingMs, signal);
    }
  }

  #desk(joined: Joined, signal: AbortSignal, run: { isConnected: boolean }): ChatDesk {
    const { service, rows, log, readFile } = this.#deps;
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
      began: (turnId, { chatId, kind }) => this.#online?.live?.begin(turnId, { chatId, isPrivate: kind === 'private' }),
    });
    return {
      online: (line) => {
        if (signal.aborted) return;
        run.isConnected = true;
        this.#goOnline(joined, line);
        // Of the last run of the program: those of this one are being answered.
        if (!joined.hasAnsweredLeft) void reception.answerLeft().catch((cause: unknown) => this.#note(cause));
        joined.hasAnsweredLeft = true;
      },
      offline: (problem) => {
        // A service that is ended says that its connection is gone; the state is already that of the pause.
        if (signal.aborted) return;
        this.#online?.close();
        this.#life.set('offline', problem);
      },
      knows: (senderId) => reception.knows(senderId),
      take: (message) => reception.take(message),
      press: (press) => joined.questions.press(press),
      note: (key) => rows.note(key),
      setNote: (key, value) => {
        if (rows.note(key) !== value)
          log.append(systemSessionId, [{ type: 'channel.noted', body: { channel: this.name, note: key, value } }]);
      },
      readFile,
    };
  }

  #goOnline(joined: Joined, line: ChatLine): void {
    this.#online?.close();
    const { log, clock, logger, every } = this.#deps;
    const live =
      line.live === undefined ? null : new LiveReplies({ log, clock, logger, every, screen: line.live, records: recordsOf(this.name) });
    const stopHearing = live === null ? null : joined.claw.onDelta((delta) => live.hear(delta));
    const closePort = joined.link.open(this.#portOver(line.port, live));
    this.#online = {
      line,
      live,
      close: () => {
        closePort();
        stopHearing?.();
      },
    };
    this.#me = line.me;
    this.#life.set('running', null);
    joined.questions.askOpen();
    this.#closeAnswered();
  }

  async #leave(): Promise<void> {
    const online = this.#online;
    online?.close();
    this.#online = null;
    await online?.live?.dispose();
  }

  /** The answer takes the place of its preview, and a question that was answered meanwhile says so and has no buttons. */
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
        return port.send({ ...this.#asAnswered(part), ...shownIn }, signal);
      },
    };
  }

  #asAnswered(part: OutboundPart): OutboundPart {
    if (part.item.kind !== 'question') return part;
    const answer = this.#life.joined?.questions.answerOf(part.item.outboundId) ?? null;
    if (answer === null) return part;
    const { buttons: _gone, ...rest } = part.item;
    const item = stillRedacted<OutboundItem>(rest);
    return { ...part, item, text: part.text === '' ? '' : `${part.text}\n\n${answer}` };
  }

  /** Every chat that asked shows the outcome, wherever it was decided. */
  #closeAnswered(): void {
    const { questions } = this.#life.joined ?? {};
    const online = this.#online;
    if (questions === undefined || online === null) return;
    for (const { question, asked } of questions.answered()) {
      const { chatId, messageId, approvalId, userId } = question;
      const key = `${approvalId} ${userId}`;
      if (messageId === null || this.#closing.has(key)) continue;
      const text = questions.howAnswered(asked);
      const { line } = online;
      if (line.closeQuestion === undefined) {
        this.#closeByLine(questions, { question, asked }, text);
        continue;
      }
      this.#closing.add(key);
      void line
        .closeQuestion({ chatId, messageId, text })
        .catch((cause: unknown) => this.#note(cause))
        .then(() => {
          this.#closing.delete(key);
          questions.close(question);
        });
    }
  }

  /** A service whose messages cannot be changed gets a line, unless the person answered in that very chat. */
  #closeByLine(questions: Questions, { question, asked }: ReturnType<Questions['answered']>[number], text: string): void {
    const { log, queue } = this.#deps;
    log.transact(() => {
      if (asked.by !== `${this.name}:${question.userId}`) {
        queue({
          to: { channel: this.name, chatId: question.chatId },
          kind: 'notice',
          text: `${asked.summary}\n${text}`,
          files: [],
          ...(question.messageId === null ? {} : { replyToMessageId: question.messageId }),
          idempotencyKey: `${this.name}-closed:${asked.askId}:${question.userId}`,
          sessionId: asked.sessionId === '' ? systemSessionId : asked.sessionId,
          turnId: null,
        });
      }
      questions.close(question);
    });
  }

  #note(cause: unknown): void {
    this.#deps.logger.log('warn', 'a chat service could not do all of its work', { channel: this.name, cause: String(cause) });
  }
}
