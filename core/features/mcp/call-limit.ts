// The time limit of one call. The clock is paused while a person is asked.

import type { Clock } from '../../base/clock.ts';
import type { Later } from '../../base/later.ts';

export class CallLimit {
  readonly #clock: Clock;
  readonly #later: Later;
  readonly #over = new AbortController();
  #leftMs: number;
  #sinceMs = 0;
  #callOff: (() => void) | null = null;
  #pauses = 0;

  constructor(clock: Clock, later: Later, limitMs: number) {
    this.#clock = clock;
    this.#later = later;
    this.#leftMs = limitMs;
    this.#run();
  }

  /** Aborts when the time is up. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  pause(): void {
    if (this.#pauses++ > 0) return;
    this.#leftMs -= this.#clock.monotonicMs() - this.#sinceMs;
    this.end();
  }

  resume(): void {
    if (--this.#pauses === 0) this.#run();
  }

  end(): void {
    this.#callOff?.();
    this.#callOff = null;
  }

  #run(): void {
    this.#sinceMs = this.#clock.monotonicMs();
    this.#callOff = this.#later(this.#leftMs, () => this.#over.abort());
  }
}
