// Time as a port, so that tests control every clock in the core.

export interface Clock {
  /** Milliseconds since the Unix epoch. May jump when the machine's clock is set. */
  nowMs(): number;
  /** Milliseconds from an arbitrary origin. Never goes back. For durations. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

/** A clock that a test controls. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(startMs = 1_750_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }
}
