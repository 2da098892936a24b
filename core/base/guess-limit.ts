// A lockout after too many wrong tokens. Never applies to the right token, so that guessing cannot lock a person out, but is slow and
// noticeable.

import type { Clock } from './clock.ts';

const FAILURES_MAX = 10;
const WINDOW_MS = 60_000;

export class GuessLimit {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Times of the newest wrong tokens, oldest first; at most `FAILURES_MAX`. */
  #failuresMs: number[] = [];

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Counts a wrong token if `isGuess`. Returns the seconds until wrong tokens are judged again, or null if there is no lockout. */
  count(isGuess: boolean): number | null {
    const nowMs = this.#clock.monotonicMs();
    this.#failuresMs = this.#failuresMs.filter((atMs) => nowMs - atMs < WINDOW_MS);
    const oldestMs = this.#failuresMs[0];
    if (this.#failuresMs.length >= FAILURES_MAX && oldestMs !== undefined) {
      return Math.max(1, Math.ceil((oldestMs + WINDOW_MS - nowMs) / 1000));
    }
    if (isGuess) this.#failuresMs.push(nowMs);
    return null;
  }
}
