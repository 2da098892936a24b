// One active token: its bot, the polling loop, incoming updates and outgoing messages. Lives until it is stopped or the token becomes
// invalid; its owner decides what follows.

import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { ChannelLink, ChannelRules, OutboundItem } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import type { Approval } from '../../contracts/policy.ts';
import type { TelegramState } from '../../contracts/features/telegram.ts';
import {
  botCommands,
  LiveReplies,
  runCommand,
  type Pairing,
  type Questions,
  type ServerQuestions,
  type Strangers,
} from '../../runtime/chats/chats.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { readFailure } from './api-failure.ts';
import type { BotApi } from './bot-api.ts';
import { createChatPort } from './chat-port.ts';
import { HeldFiles } from './held-files.ts';
import { Intake } from './intake.ts';
import { escapeHtml, toTelegramPieces } from './markdown-html.ts';
import { Poller, type PollEnd } from './poller.ts';
import type { Bot } from './read-message.ts';
import { telegramNames, telegramRecords, type TelegramStore } from './rows.ts';
import { liveScreen } from './live-screen.ts';

export interface BotSessionDeps {
  readonly api: BotApi;
  readonly bot: Bot;
  readonly token: string;
  /** Tells this run of the program from every other. */
  readonly holder: string;
  readonly log: SessionLog;
  readonly store: TelegramStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: ChannelRules;
  readonly pairing: Pairing;
  readonly questions: Questions;
  readonly strangers: Strangers;
  readonly claw: Pick<Claw, 'op' | 'onDelta'>;
  readonly link: ChannelLink;
  readonly approvals: { pendingApprovals(): Approval[] };
  readonly servers: Pick<ServerQuestions, 'list'>;
  readonly pollSeconds: number;
  readonly fileBytesMax: number;
  readonly fetch: typeof fetch;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly every: (ms: number, run: () => void) => () => void;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  readonly readFile: (sha256: string) => Uint8Array | null;
  readonly tell: (state: TelegramState, problem: string | null) => void;
  readonly heard: () => void;
}

/** After these a question may be over. */
const answering: ReadonlySet<string> = new Set(['approval.decided', 'mcp.answered', 'outbound.part_sent']);
const SAYING_MAX = 50;
const CLOSE_TRIES = 3;
const QUESTION_MAX = 3_700;

export class BotSession {
  readonly #deps: BotSessionDeps;
  readonly #ending = new AbortController();
  readonly #live: LiveReplies;
  readonly #files: HeldFiles;
  readonly #intake: Intake;
  readonly #saying = new Set<Promise<void>>();
  readonly #closing = new Map<string, number>();
  #closePort: (() => void) | null = null;
  #hasRun = false;

  constructor(deps: BotSessionDeps) {
    this.#deps = deps;
    this.#live = new LiveReplies({ ...deps, records: telegramRecords, screen: liveScreen(deps.api) });
    this.#intake = new Intake({
      ...deps,
      command: (call) => runCommand({ ...deps, names: telegramNames }, call),
      wakeFiles: () => this.#files.wake(),
      began: (turnId, { chatId, kind }) => this.#live.begin(turnId, { chatId, isPrivate: kind === 'private' }),
      say: (chatId, text) => this.#say((signal) => deps.api.sendText({ chatId, text, isHtml: false }, signal)),
      answerPress: (queryId, words) => this.#say((signal) => deps.api.answerPress(queryId, words, signal)),
    });
    this.#files = new HeldFiles({ ...deps, intake: this.#intake }, this.#ending.signal);
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<PollEnd> {
    const { claw, log, api, questions } = this.#deps;
    const stopHearing = claw.onDelta((delta) => this.#live.hear(delta));
    const stopFollowing = log.onCommitted((events) => {
      for (const event of events) {
        this.#live.follow(event);
        if (answering.has(event.type)) this.#closeAnswered();
      }
    });
    try {
      this.#say((gone) => api.setCommands(botCommands, gone));
      questions.askOpen();
      this.#intake.answerLeft();
      this.#closeAnswered();
      return await this.#poll(signal);
    } finally {
      stopFollowing();
      stopHearing();
      this.#setPort(false);
      this.#ending.abort();
      await Promise.all([this.#live.dispose(), this.#files.idle(), ...this.#saying]);
    }
  }

  #poll(signal: AbortSignal): Promise<PollEnd> {
    const { bot, token, heard, tell } = this.#deps;
    const poller = new Poller({
      ...this.#deps,
      botId: bot.botId,
      tokenHash: createHash('sha256').update(token).digest('hex'),
      take: (updates, waitedMs) => {
        heard();
        return this.#intake.take(updates, waitedMs);
      },
      tell: (state, problem) => {
        // While the server is unreachable, queued messages wait without being tried.
        this.#setPort(state === 'running' || state === 'conflict');
        // Files left over from the last run; not before the rest of an album can have arrived.
        if (state === 'running' && !this.#hasRun) this.#files.wake();
        this.#hasRun ||= state === 'running';
        tell(state, problem);
      },
    });
    return poller.run(signal);
  }

  #setPort(isOpen: boolean): void {
    if (isOpen === (this.#closePort !== null)) return;
    this.#closePort?.();
    this.#closePort = null;
    if (!isOpen) return;
    const { api, link, store, readFile } = this.#deps;
    this.#closePort = link.open(
      createChatPort({
        api,
        readFile,
        preview: (turnId) => store.preview(turnId),
        endLive: (turnId) => this.#live.end(turnId),
        answerOf: (outboundId) => this.#deps.questions.answerOf(outboundId),
      }),
    );
  }

  /** Removes the buttons of answered approvals, and shows the answer. */
  #closeAnswered(): void {
    const { questions, api } = this.#deps;
    for (const { question, asked } of questions.answered()) {
      const key = `${question.approvalId} ${question.userId}`;
      if (this.#closing.has(key) || question.messageId === null) continue;
      this.#closing.set(key, 1);
      const { chatId, messageId } = question;
      const [shown] = toTelegramPieces(asked.text, QUESTION_MAX);
      const text = `${shown?.html ?? ''}\n\n${escapeHtml(questions.howAnswered(asked))}`;
      this.#say(async (signal) => {
        for (let tried = 1; tried <= CLOSE_TRIES; tried++) {
          try {
            await api.editText({ chatId, messageId, text, isHtml: true, buttons: [] }, signal);
            break;
          } catch (cause) {
            const failure = readFailure(cause, signal);
            if (failure.kind === 'aborted') return;
            if (failure.kind === 'refused') break;
            await this.#deps.wait(failure.kind === 'flood' ? failure.retryAfterMs : 1_000 * tried, signal);
          }
        }
        questions.close(question);
        this.#closing.delete(key);
      });
    }
  }

  /** Said if it can be said: what must arrive goes through the outbox. */
  #say(words: (signal: AbortSignal) => Promise<unknown>): void {
    if (this.#saying.size >= SAYING_MAX) return;
    const saying: Promise<void> = words(this.#ending.signal)
      .catch((cause: unknown) => {
        this.#deps.logger.log('debug', 'something could not be said on Telegram', { ...readFailure(cause, this.#ending.signal) });
      })
      .then(() => {
        this.#saying.delete(saying);
      });
    this.#saying.add(saying);
  }
}
