// The time limit of one call, whose clock is paused while a person is asked, and the end of several.

import type { Clock, Later } from '../../base/clock.ts';

export class CallLimit {
  readonly #clock: Clock;
  readonly #later: Later;
  readonly #over = new AbortController();
  #leftMs: number;
  #sinceMs = 0;
  #callOff: (() => void) | null = null;
  #pauses = 0;
  #isOver = false;

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
    this.#stop();
  }

  resume(): void {
    if (--this.#pauses === 0 && !this.#isOver) this.#run();
  }

  end(): void {
    this.#isOver = true;
    this.#stop();
  }

  #stop(): void {
    this.#callOff?.();
    this.#callOff = null;
  }

  #run(): void {
    this.#sinceMs = this.#clock.monotonicMs();
    this.#callOff = this.#later(this.#leftMs, () => this.#over.abort());
  }
}

/** Aborts when all of them have. */
export function allOver(signals: readonly AbortSignal[]): AbortSignal {
  const all = new AbortController();
  const look = (): void => {
    if (signals.every(({ aborted }) => aborted)) all.abort();
  };
  for (const signal of signals) signal.addEventListener('abort', look, { once: true });
  return all.signal;
}
