// A lockout after too many wrong tokens. Never applies to the right token, so that guessing cannot lock a person out, but is slow and
// noticeable.

import type { Clock } from './clock.ts';
import { RecentTimes } from './recent-times.ts';

const FAILURES_MAX = 10;

export class GuessLimit {
  readonly #failures: RecentTimes;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#failures = new RecentTimes(clock, 60_000);
  }

  /** Counts a wrong token if `isGuess`. Returns the seconds until wrong tokens are judged again, or null if there is no lockout. */
  count(isGuess: boolean): number | null {
    if (this.#failures.count() >= FAILURES_MAX) return this.#failures.secondsLeft();
    if (isGuess) this.#failures.add();
    return null;
  }
}
