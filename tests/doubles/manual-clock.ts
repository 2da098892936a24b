// A clock that a test controls: time passes when the test says so.

import type { Clock } from '../../core/base/clock.ts';

export class ManualClock implements Clock {
  #nowMs: number;
  #setByMs = 0;

  constructor(startMs = 1_750_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs + this.#setByMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** Sets the clock ahead, or back, without time passing; a machine that sleeps does the same. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }
}
