// Time as ports, the clock and one delayed action, so that tests control every clock in the core.

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

/** Smaller corrections of the machine's clock are ignored. */
export const clockStepMs = 60_000;

/** Notices that the machine slept: its clock went on, and the monotonic one did not. */
export class SleepWatch {
  readonly #clock: Clock;
  #last: { readonly nowMs: number; readonly monotonicMs: number } | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns for how long the machine slept since the last call, or by how much its clock was set ahead; 0 at the first call. */
  sleptMs(): number {
    const last = this.#last;
    this.#last = { nowMs: this.#clock.nowMs(), monotonicMs: this.#clock.monotonicMs() };
    if (last === null) return 0;
    const sleptMs = Math.round(this.#last.nowMs - last.nowMs - (this.#last.monotonicMs - last.monotonicMs));
    return sleptMs > clockStepMs ? sleptMs : 0;
  }
}

/**
 * Returns whether a stored period of time is over. One that begins in the future is over as well: it was stored while the clock was ahead,
 * and would otherwise last until that time comes.
 */
export function isOver({ fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number }, nowMs: number): boolean {
  return nowMs >= untilMs || nowMs < fromMs - clockStepMs;
}

/**
 * Calls `action` once after at least `delayMs`, or soon if `delayMs` is negative because the time has passed. Returns a function that
 * cancels the action. A pending action never keeps the process alive.
 */
export type Later = (delayMs: number, action: () => void) => () => void;

export const systemLater: Later = (delayMs, action) => {
  const timer = setTimeout(action, Math.max(0, delayMs));
  timer.unref();
  return () => {
    clearTimeout(timer);
  };
};
