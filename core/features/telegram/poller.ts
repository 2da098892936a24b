// The polling loop: backs off, obeys flood limits, yields to another program that polls, and resumes automatically. Passes each update on
// without waiting for its effects, so that a button is handled while a turn waits for it.

import type { Spine } from '../feature.ts';
import { isTokenRefused, readFailure, type ApiFailure } from './api-failure.ts';
import type { BotApi, Update } from './bot-api.ts';
import type { Taken } from './intake.ts';
import type { PollPlace } from './poll-place.ts';
import type { PollLeases } from './rows.ts';

export interface PollerDeps extends Pick<Spine, 'clock' | 'logger'> {
  readonly api: Pick<BotApi, 'getUpdates'>;
  readonly place: Pick<PollPlace, 'askFrom'>;
  readonly leases: PollLeases;
  /** The hash of the token that the lease is for. */
  readonly tokenHash: string;
  readonly holder: string;
  readonly pollSeconds: number;
  /** Resolves to false at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** Stores the updates, or completes their effect, before it resolves. `waitedMs` is the maximum age of the updates of this poll. */
  readonly take: (updates: readonly Update[], waitedMs: number) => Promise<Taken>;
  readonly tell: (news: PollNews) => void;
}

/** `conflict` says which program receives the updates instead, and how to fix that. */
export type PollNews = { readonly state: 'polling'; readonly conflict?: string } | { readonly state: 'offline'; readonly problem: string };

/** Why the loop ended. */
export type PollEnd = 'stopped' | 'refused' | 'lease_lost';

const BACKOFF_MS = 1_000;
const OFFLINE_MS_MAX = 60_000;
const CONFLICT_MS = 30_000;
const CONFLICT_MS_MAX = 15 * 60_000;
/** The pause after a poll that returned nothing at once. */
const QUICK_MS = 500;
/** The number of failed polls after which the bot is reported as offline. A single failure is not reported. */
const OFFLINE_AFTER = 3;
/** The pause after a failure of the store. */
const STORE_MS = 5_000;
/** The pause while something more urgent is handled. */
const LATER_MS = 300;

export class Poller {
  readonly #deps: PollerDeps;
  #failures = 0;
  #conflicts = 0;
  /** Whether the last poll succeeded, so that the next one may wait for updates. */
  #isSure = false;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  async run(signal: AbortSignal): Promise<PollEnd> {
    const { leases, tokenHash, holder, clock } = this.#deps;
    // The age of the updates of the first poll counts from the last poll of the previous holder.
    leases.holdLease(tokenHash, holder, leases.lease(tokenHash)?.polledAtMs ?? clock.nowMs());
    while (!signal.aborted) {
      if (leases.lease(tokenHash)?.holder !== holder) return 'lease_lost';
      const end = await this.#pollOnce(signal);
      if (end !== null) return end;
    }
    return 'stopped';
  }

  async #pollOnce(signal: AbortSignal): Promise<PollEnd | null> {
    const { api, place, pollSeconds, clock, wait } = this.#deps;
    const startedMs = clock.monotonicMs();
    let updates: Update[];
    try {
      updates = await api.getUpdates({ offset: place.askFrom(clock.nowMs()), timeoutSeconds: this.#isSure ? pollSeconds : 0 }, signal);
    } catch (cause) {
      return this.#fail(readFailure(cause, signal), signal);
    }
    const wasSure = this.#isSure;
    this.#isSure = true;
    this.#failures = 0;
    this.#conflicts = 0;
    this.#deps.tell({ state: 'polling' });
    const waitMs = await this.#takeAll(updates);
    if (waitMs > 0) return this.#pause(waitMs, signal);
    const tookMs = clock.monotonicMs() - startedMs;
    if (wasSure && updates.length === 0 && tookMs < QUICK_MS) await wait(QUICK_MS, signal);
    return null;
  }

  /** Returns how long to wait before the unhandled updates are fetched again; 0 if they may be fetched at once. */
  async #takeAll(updates: readonly Update[]): Promise<number> {
    const { place, leases, tokenHash, holder, clock } = this.#deps;
    const nowMs = clock.nowMs();
    const from = place.askFrom(nowMs);
    const waitedMs = nowMs - (leases.lease(tokenHash)?.polledAtMs ?? 0);
    // A server that ignores the offset repeats updates.
    const fresh = updates.filter((update) => update.update_id >= from);
    // If the clock was set back, the age is unknown.
    try {
      const ageMs = waitedMs < 0 ? Number.MAX_SAFE_INTEGER : waitedMs;
      const taken = fresh.length === 0 ? 'taken' : await this.#deps.take(fresh, ageMs);
      if (taken === 'later') return LATER_MS;
      // The remaining updates are received again, with the same age.
      if (taken === 'partly') return 0;
      // If another process has taken the lease, it keeps it.
      if (leases.lease(tokenHash)?.holder === holder) leases.holdLease(tokenHash, holder, clock.nowMs());
      return 0;
    } catch (cause) {
      this.#deps.logger.log('error', 'updates of Telegram could not be kept', { cause: String(cause) });
      return STORE_MS;
    }
  }

  async #fail(failure: ApiFailure, signal: AbortSignal): Promise<PollEnd | null> {
    this.#isSure = false;
    if (failure.kind === 'aborted') return 'stopped';
    if (failure.kind === 'flood') return this.#pause(failure.retryAfterMs, signal);
    if (isTokenRefused(failure)) return 'refused';
    if (failure.kind === 'refused') {
      const { why } = failure;
      if (why === 'conflict' || why === 'webhook') return this.#yield(why, signal);
    }
    this.#failures += 1;
    const { words } = failure;
    this.#deps.logger.log('warn', 'updates of Telegram could not be fetched', { words, failures: this.#failures });
    if (this.#failures >= OFFLINE_AFTER) {
      const problem = 'The Telegram server cannot be reached. TrayClaw keeps trying; Telegram keeps new messages for a day.';
      this.#deps.tell({ state: 'offline', problem });
    }
    return this.#pause(growing(BACKOFF_MS, this.#failures, OFFLINE_MS_MAX, this.#deps.random), signal);
  }

  /** Another program receives the updates. If both kept polling, they would only interrupt each other. */
  #yield(why: 'conflict' | 'webhook', signal: AbortSignal): Promise<null> {
    this.#conflicts += 1;
    const conflict =
      why === 'webhook'
        ? 'A webhook is set for this bot, so updates go there. Remove it (deleteWebhook), or create a separate bot for this computer.'
        : 'Another program polls this bot: most likely TrayClaw on another computer or with another data folder, or another program with the same token. Stop it there, or create a separate bot for this computer.';
    this.#deps.tell({ state: 'polling', conflict });
    return this.#pause(growing(CONFLICT_MS, this.#conflicts, CONFLICT_MS_MAX, this.#deps.random), signal);
  }

  async #pause(ms: number, signal: AbortSignal): Promise<null> {
    await this.#deps.wait(ms, signal);
    return null;
  }
}

/** Doubles with each failure, and varies by up to a quarter, so that two programs do not stay in step. */
function growing(firstMs: number, times: number, maxMs: number, random: () => number): number {
  const base = Math.min(firstMs * 2 ** Math.min(times - 1, 20), maxMs);
  return Math.round(base * (0.75 + random() / 2));
}
