// The Telegram bot as a channel: starts, pauses and stops it, and reports its state. It acts on the agent only through operations, like
// every other door.

import { createHash } from 'node:crypto';
import type { Channel, ChannelLink } from '../../contracts/channels.ts';
import { toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { telegramOps, TelegramState } from '../../contracts/features/telegram.ts';
import { chatWords, Pairing, Questions, Strangers, type PairingDeps, type QuestionDeps } from '../../runtime/chats/chats.ts';
import { readFailure } from './api-failure.ts';
import { createBotApi, type BotApi } from './bot-api.ts';
import { BotSession, type BotSessionDeps } from './bot-session.ts';
import type { Bot } from './read-message.ts';
import { telegramNames, telegramRecords } from './rows.ts';

export interface TelegramDeps
  extends
    Omit<PairingDeps, 'store' | 'records' | 'names'>,
    Pick<
      BotSessionDeps,
      'store' | 'logger' | 'rules' | 'pollSeconds' | 'fileBytesMax' | 'fetch' | 'random' | 'wait' | 'every' | 'queue' | 'readFile'
    >,
    Pick<QuestionDeps, 'approvals' | 'servers' | 'nonce' | 'keep'> {
  /** Null if no token is configured. */
  readonly source: { readonly apiRoot: string; resolveToken(): Promise<string> } | null;
}

type TelegramOps = Pick<OpHandlers, keyof typeof telegramOps>;

/** After these events something may have to be asked. */
const news: ReadonlySet<string> = new Set(['approval.requested', 'mcp.asked', 'telegram.paired', 'outbound.uncertain']);
const RETRY_MS = 5_000;
const RETRY_MS_MAX = 60_000;
/** How often to check whether an invalid token was replaced, and after how many checks the same one is retried. */
const TOKEN_LOOK_MS = 15_000;
const TOKEN_LOOKS = 40;

/** While it is started. */
type Line = Pick<BotSessionDeps, 'link' | 'claw' | 'questions'>;

export class Telegram {
  readonly #deps: TelegramDeps;
  readonly #pairing: Pairing;
  readonly #strangers: Strangers;
  #state: TelegramState;
  #problem: string | null = null;
  #sinceMs: number;
  #bot: Bot | null = null;
  #lastUpdateMs: number | null = null;
  #line: Line | null = null;
  #running: { readonly ending: AbortController; readonly ended: Promise<void> } | null = null;

  constructor(deps: TelegramDeps) {
    this.#deps = deps;
    this.#pairing = new Pairing({ ...deps, records: telegramRecords, names: telegramNames });
    this.#strangers = new Strangers(deps.clock, telegramNames);
    this.#state = deps.source === null ? 'off' : 'starting';
    this.#sinceMs = deps.clock.nowMs();
  }

  get handlers(): TelegramOps {
    const pairing = this.#pairing;
    return {
      'telegram.status': () => this.status(),
      'telegram.pair': (_params, caller) => ({ ...pairing.offer(caller), bot: this.#bot?.username ?? null }),
      'telegram.list': () => pairing.list(),
      'telegram.confirm': ({ pairingId }, caller) => {
        const person = pairing.confirm(pairingId, caller);
        this.#line?.link.introduce({ chatId: person.chatId }, { kind: 'private', title: person.name, senderId: person.userId });
        this.#welcome(pairingId, person.chatId);
        return pairing.list();
      },
      'telegram.refuse': ({ pairingId }, caller) => {
        pairing.refuse(pairingId, caller);
        return pairing.list();
      },
      'telegram.revoke': ({ userId }, caller) => {
        pairing.revoke(userId, caller);
        return pairing.list();
      },
      'telegram.pause': (_params, caller) => this.#setPaused(true, caller),
      'telegram.resume': (_params, caller) => this.#setPaused(false, caller),
    };
  }

  /** Acts for a person only through the operations. */
  channel(claw: Line['claw']): Channel {
    const { rules, store } = this.#deps;
    const identities = { isOwner: (senderId: string) => store.person(senderId) !== null };
    return { name: 'telegram', identities, rules, join: (link) => this.#join(link, claw) };
  }

  /** Begins to listen, unless it is paused or has no token. */
  #join(link: ChannelLink, claw: Line['claw']): { dispose(): Promise<void> } {
    const questions = new Questions({ ...this.#deps, records: telegramRecords, names: telegramNames, claw });
    this.#line = { link, claw, questions };
    const stopFollowing = this.#deps.log.onCommitted((events) => {
      if (events.some(({ type }) => news.has(type))) questions.askOpen();
    });
    this.#start();
    return {
      dispose: async () => {
        stopFollowing();
        this.#line = null;
        await this.#stop();
      },
    };
  }

  status(): OpResult<'telegram.status'> {
    const { people, pairings } = this.#pairing.list();
    return {
      state: this.#state,
      sinceMs: this.#sinceMs,
      problem: this.#problem,
      bot: this.#bot,
      lastUpdateMs: this.#lastUpdateMs,
      people: people.length,
      pairings: pairings.length,
      strangers: this.#strangers.count,
    };
  }

  #welcome(pairingId: string, chatId: string): void {
    this.#deps.queue({
      to: { channel: 'telegram', chatId },
      kind: 'notice',
      text: chatWords.welcome,
      files: [],
      idempotencyKey: `telegram-paired:${pairingId}`,
      sessionId: systemSessionId,
      turnId: null,
    });
  }

  #setPaused(isPaused: boolean, caller: Caller): OpResult<'telegram.status'> {
    const { log, store } = this.#deps;
    if (store.isPaused !== isPaused) {
      const body = { by: caller.actor };
      log.append(systemSessionId, [isPaused ? { type: 'telegram.paused', body } : { type: 'telegram.resumed', body }], true);
    }
    if (isPaused) void this.#stop();
    else this.#start();
    return this.status();
  }

  #start(): void {
    const { source, store, logger } = this.#deps;
    const line = this.#line;
    if (source === null || line === null || this.#running !== null) return;
    if (store.isPaused) {
      this.#set('paused', null);
      return;
    }
    this.#set('starting', null);
    const ending = new AbortController();
    const ended = this.#run(source, line, ending.signal).catch((cause: unknown) => {
      logger.log('error', 'the Telegram bot ended by a fault', { cause: String(cause) });
    });
    this.#running = { ending, ended };
  }

  async #stop(): Promise<void> {
    const running = this.#running;
    if (this.#deps.store.isPaused) this.#set('paused', null);
    running?.ending.abort();
    await running?.ended;
    // Resumed while it was ending.
    if (this.#running === running) this.#running = null;
    if (this.#line !== null && !this.#deps.store.isPaused) this.#start();
  }

  async #run(source: NonNullable<TelegramDeps['source']>, line: Line, signal: AbortSignal): Promise<void> {
    let refusedHash: string | null = null;
    let failures = 0;
    let looks = 0;
    while (!signal.aborted) {
      const token = await this.#resolve(source);
      const hash = token === null ? null : createHash('sha256').update(token).digest('hex');
      if (token === null || (hash === refusedHash && looks < TOKEN_LOOKS)) {
        looks += 1;
        await this.#deps.wait(TOKEN_LOOK_MS, signal);
        continue;
      }
      const api = await createBotApi(token, source.apiRoot, this.#deps.fetch);
      const met = await this.#meet(api, signal);
      looks = 0;
      if (met === 'refused') refusedHash = hash;
      if (met === 'refused' || 'retryMs' in met) {
        failures += 1;
        const growingMs = Math.min(RETRY_MS * 2 ** Math.min(failures - 1, 10), RETRY_MS_MAX);
        await this.#deps.wait(met === 'refused' ? growingMs : (met.retryMs ?? growingMs), signal);
        continue;
      }
      failures = 0;
      this.#bot = met;
      const end = await this.#listen({ api, bot: met, token, line }, signal);
      if (end === 'refused') refusedHash = hash;
      if (end === 'lease_lost') return;
    }
  }

  async #resolve(source: NonNullable<TelegramDeps['source']>): Promise<string | null> {
    try {
      return await source.resolveToken();
    } catch (cause) {
      this.#set('refused', toAppError(cause).told());
      return null;
    }
  }

  async #meet(api: BotApi, signal: AbortSignal): Promise<Bot | 'refused' | { readonly retryMs: number | null }> {
    try {
      const { id, username } = await api.getMe(signal);
      return { botId: String(id), username };
    } catch (cause) {
      const failure = readFailure(cause, signal);
      if (failure.kind === 'aborted') return { retryMs: null };
      if (failure.kind === 'refused' && (failure.why === 'unauthorized' || failure.why === 'not_found')) {
        this.#set('refused', tokenWords);
        return 'refused';
      }
      if (failure.kind === 'flood') {
        this.#set('offline', 'Telegram asked TrayClaw to wait. TrayClaw retries automatically.');
        return { retryMs: failure.retryAfterMs };
      }
      this.#set('offline', 'The Telegram server cannot be reached. TrayClaw retries automatically.');
      return { retryMs: null };
    }
  }

  #listen(
    { api, bot, token, line }: { api: BotApi; bot: Bot; token: string; line: Line },
    signal: AbortSignal,
  ): ReturnType<BotSession['run']> {
    const session = new BotSession({
      ...this.#deps,
      ...line,
      api,
      bot,
      token,
      pairing: this.#pairing,
      strangers: this.#strangers,
      holder: this.#deps.nonce(),
      tell: (state, problem) => this.#set(state, problem),
      heard: () => {
        this.#lastUpdateMs = this.#deps.clock.nowMs();
      },
    });
    return session.run(signal);
  }

  /** Recorded once per change; a normal start is not recorded. */
  #set(state: TelegramState, problem: string | null): void {
    if (state === this.#state && problem === this.#problem) return;
    const wasWell = this.#problem === null;
    this.#state = state;
    this.#problem = problem;
    this.#sinceMs = this.#deps.clock.nowMs();
    if (wasWell && problem === null) return;
    try {
      this.#deps.log.append(systemSessionId, [{ type: 'telegram.state_changed', body: { state, problem } }]);
    } catch (cause) {
      this.#deps.logger.log('error', 'the state of the Telegram bot could not be noted', { cause: String(cause) });
    }
  }
}

export const tokenWords = 'Telegram does not take the token of the bot: it was revoked, or never was one. Set the new one of @BotFather.';
