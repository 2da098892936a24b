// The Telegram bot as a channel: starts, pauses and stops it, and reports its state. It acts on the agent only through operations, like
// every other door.

import { createHash } from 'node:crypto';
import type { Channel, ChannelLink, ChannelRules, OutboundItem } from '../../contracts/channels.ts';
import type { Claw } from '../../contracts/claw.ts';
import { toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Caller, OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { telegramOps, TelegramState } from '../../contracts/features/telegram.ts';
import type { Logger } from '../../base/logger.ts';
import { ChannelRun, chatWords, Pairing, Questions, Strangers, type PairingDeps, type QuestionDeps } from '../../runtime/chats/chats.ts';
import { readFailure } from './api-failure.ts';
import { createBotApi, type BotApi } from './bot-api.ts';
import { BotSession } from './bot-session.ts';
import type { Bot } from './read-message.ts';
import { runRecords, telegramNames, telegramRecords, type TelegramStore } from './rows.ts';

export interface TelegramDeps extends Omit<PairingDeps, 'store' | 'records' | 'names'> {
  readonly store: TelegramStore;
  readonly logger: Logger;
  readonly approvals: QuestionDeps['approvals'];
  readonly servers: QuestionDeps['servers'];
  readonly rules: ChannelRules;
  /** Null if no token is configured. */
  readonly source: { readonly apiRoot: string; resolveToken(): Promise<string> } | null;
  readonly pollSeconds: number;
  readonly fileBytesMax: number;
  readonly fetch: typeof fetch;
  readonly random: () => number;
  readonly nonce: () => string;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  readonly every: (ms: number, run: () => void) => () => void;
  readonly queue: (item: Omit<OutboundItem, 'outboundId'>) => string;
  keep: QuestionDeps['keep'];
  readonly readFile: (sha256: string) => Uint8Array | null;
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
interface Line {
  readonly link: ChannelLink;
  readonly claw: Pick<Claw, 'op' | 'onDelta'>;
  readonly questions: Questions;
}

export class Telegram {
  readonly #deps: TelegramDeps;
  readonly #pairing: Pairing;
  readonly #strangers: Strangers;
  readonly #life: ChannelRun<Line, TelegramState>;
  #bot: Bot | null = null;
  #lastUpdateMs: number | null = null;

  constructor(deps: TelegramDeps) {
    this.#deps = deps;
    this.#pairing = new Pairing({ ...deps, records: telegramRecords, names: telegramNames });
    this.#strangers = new Strangers(deps.clock, telegramNames);
    const { source, store } = deps;
    const about = { channel: 'telegram', first: source === null ? 'off' : 'starting', isPaused: () => store.isPaused } as const;
    this.#life = new ChannelRun({ ...deps, ...about, records: runRecords }, async (line, signal) => {
      if (source !== null) await this.#run(source, line, signal);
    });
  }

  get handlers(): TelegramOps {
    const pairing = this.#pairing;
    return {
      'telegram.status': () => this.status(),
      'telegram.pair': (_params, caller) => ({ ...pairing.offer(caller), bot: this.#bot?.username ?? null }),
      'telegram.list': () => pairing.list(),
      'telegram.confirm': ({ pairingId }, caller) => {
        const person = pairing.confirm(pairingId, caller);
        this.#life.joined?.link.introduce({ chatId: person.chatId }, { kind: 'private', title: person.name, senderId: person.userId });
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
    const stopFollowing = this.#deps.log.onCommitted((events) => {
      if (events.some(({ type }) => news.has(type))) questions.askOpen();
    });
    const leave = this.#life.join({ link, claw, questions });
    return {
      dispose: async () => {
        stopFollowing();
        await leave();
      },
    };
  }

  status(): OpResult<'telegram.status'> {
    const { people, pairings } = this.#pairing.list();
    return {
      ...this.#life.status,
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

  #setPaused(isPaused: boolean, { actor }: Caller): OpResult<'telegram.status'> {
    this.#life.setPaused(isPaused, actor);
    return this.status();
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
      this.#life.set('refused', toAppError(cause).told());
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
        this.#life.set('refused', tokenWords);
        return 'refused';
      }
      if (failure.kind === 'flood') {
        this.#life.set('offline', 'Telegram asked TrayClaw to wait. TrayClaw retries automatically.');
        return { retryMs: failure.retryAfterMs };
      }
      this.#life.set('offline', 'The Telegram server cannot be reached. TrayClaw retries automatically.');
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
      tell: (state, problem) => this.#life.set(state, problem),
      heard: () => {
        this.#lastUpdateMs = this.#deps.clock.nowMs();
      },
    });
    return session.run(signal);
  }
}

export const tokenWords = 'Telegram does not take the token of the bot: it was revoked, or never was one. Set the new one of @BotFather.';
