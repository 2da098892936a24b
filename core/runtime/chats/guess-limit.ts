// Limits how many wrong codes one person, and all people together, may try within an hour.

import type { Clock } from '../../base/clock.ts';
import { RecentTimes } from '../../base/recent-times.ts';

const WITHIN_MS = 3_600_000;
const WRONG_MAX = 5;
const WRONG_TOTAL_MAX = 30;

export class GuessLimit {
  readonly #wrong: RecentTimes;
  readonly #wrongTotal: RecentTimes;

  constructor(clock: Clock) {
    this.#wrong = new RecentTimes(clock, WITHIN_MS);
    this.#wrongTotal = new RecentTimes(clock, WITHIN_MS);
  }

  isReached(userId: string): boolean {
    return this.#wrong.count(userId) >= WRONG_MAX || this.#wrongTotal.count() >= WRONG_TOTAL_MAX;
  }

  count(userId: string): void {
    this.#wrong.add(userId);
    this.#wrongTotal.add();
  }
}
