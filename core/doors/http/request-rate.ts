// Limits requests per second, per connection and in total. The panic stop and similar requests are never counted.

import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';

export interface Rate {
  readonly perSecond: number;
  /** The maximum burst after a quiet time. */
  readonly burst: number;
}

export interface RequestRates {
  readonly connection: Rate;
  readonly door: Rate;
}

export const defaultRequestRates: RequestRates = { connection: { perSecond: 100, burst: 200 }, door: { perSecond: 500, burst: 1_000 } };

/** Requests that must be accepted under any load. */
const neverCounted: ReadonlySet<string> = new Set(['/api/ops/panic.engage', '/api/ops/panic.status', '/api/ops/turn.cancel']);

export class RequestRateLimit {
  readonly #rates: RequestRates;
  readonly #clock: Clock;
  readonly #door: TokenBucket;
  readonly #connections = new WeakMap<object, TokenBucket>();

  constructor(rates: RequestRates, clock: Clock) {
    this.#rates = rates;
    this.#clock = clock;
    this.#door = new TokenBucket(rates.door, clock.monotonicMs());
  }

  /** Counts one authorised request. Returns the error if there are too many. */
  count(connection: object, path: string): AppError | null {
    if (neverCounted.has(path)) return null;
    const nowMs = this.#clock.monotonicMs();
    let own = this.#connections.get(connection);
    if (own === undefined) this.#connections.set(connection, (own = new TokenBucket(this.#rates.connection, nowMs)));
    if (own.take(nowMs) && this.#door.take(nowMs)) return null;
    return new AppError('rate_limited', 'Too many requests at once.', { data: { retryAfterSeconds: 1 }, isRetryable: true });
  }
}

class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #atMs: number;

  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#atMs = nowMs;
  }

  take(nowMs: number): boolean {
    const { perSecond, burst } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
