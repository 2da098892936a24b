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

/** Smaller corrections of the machine's clock are ignored. */
export const clockStepMs = 60_000;

/**
 * Returns whether a stored period of time is over. One that begins in the future is over as well: it was stored while the clock was ahead,
 * and would otherwise last until that time comes.
 */
export function isOver({ fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number }, nowMs: number): boolean {
  return nowMs >= untilMs || nowMs < fromMs - clockStepMs;
}
