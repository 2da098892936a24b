// Decides whether and when a failed model call is retried. Pure.

import type { AppError } from '../../contracts/errors.ts';

/** The longest wait that a server may ask for; a longer one ends the retries. */
export const WAIT_MS_MAX = 180_000;
const BACKOFF_START_MS = 500;
const BACKOFF_MS_MAX = 30_000;

export interface FailedAttempt {
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly error: AppError;
  /** True if the person has already seen a part of this answer, or if it broke off after it had begun. */
  readonly hasDelivered: boolean;
}

/**
 * Returns whether an interrupted answer may be requested once more. The caller does it, because the interrupted answer was probably billed:
 * it must be recorded, and the second request admitted by the budget, first.
 */
export function mayAskAgain({ attempt, error, hasDelivered }: FailedAttempt, retriesMax: number): boolean {
  return hasDelivered && error.code === 'model_cut_off' && attempt <= retriesMax;
}

/**
 * Milliseconds to wait before the next attempt, or null for none. A server's own `retry-after` is honoured, but one of more than three
 * minutes ends the retries. Otherwise the wait doubles from half a second, with jitter. `random` returns a number in [0, 1).
 */
export function retryWaitMs(failed: FailedAttempt, retriesMax: number, random: () => number): number | null {
  if (failed.hasDelivered || !failed.error.isRetryable || failed.attempt > retriesMax) return null;
  const asked = failed.error.data['retryAfterMs'];
  if (typeof asked === 'number') return asked > WAIT_MS_MAX ? null : Math.max(0, asked);
  const ceilingMs = Math.min(BACKOFF_MS_MAX, BACKOFF_START_MS * 2 ** (failed.attempt - 1));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random());
}
