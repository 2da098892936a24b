// Limits how many wrong codes one person, and all people together, may try within an hour. Kept in memory; a restart resets it.

import type { Clock } from '../../base/clock.ts';

const WITHIN_MS = 3_600_000;
const WRONG_MAX = 5;
const WRONG_TOTAL_MAX = 30;
const PEOPLE_COUNTED_MAX = 1000;

export class GuessLimit {
  readonly #clock: Clock;
  readonly #wrong = new Map<string, number[]>();
  #wrongTotal: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isReached(userId: string): boolean {
    const since = this.#clock.monotonicMs() - WITHIN_MS;
    this.#wrongTotal = this.#wrongTotal.filter((atMs) => atMs > since);
    const own = (this.#wrong.get(userId) ?? []).filter((atMs) => atMs > since);
    return own.length >= WRONG_MAX || this.#wrongTotal.length >= WRONG_TOTAL_MAX;
  }

  count(userId: string): void {
    const nowMs = this.#clock.monotonicMs();
    const own = (this.#wrong.get(userId) ?? []).filter((atMs) => atMs > nowMs - WITHIN_MS);
    this.#wrong.delete(userId);
    this.#wrong.set(userId, [...own, nowMs]);
    this.#wrongTotal.push(nowMs);
    for (const oldest of this.#wrong.keys()) {
      if (this.#wrong.size <= PEOPLE_COUNTED_MAX) break;
      this.#wrong.delete(oldest);
    }
  }
}
