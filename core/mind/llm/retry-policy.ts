// Decides whether and when a failed model call is retried. Pure.

import type { AppError } from '../../contracts/errors.ts';

/** The longest wait that a server may ask for; a longer one ends the tries. */
export const WAIT_MS_MAX = 180_000;
const BACKOFF_START_MS = 500;
const BACKOFF_MS_MAX = 30_000;

export interface FailedAttempt {
  /** 1 for the first try. */
  readonly attempt: number;
  readonly error: AppError;
  /** The person has already seen a part of this answer, or it broke off after it had begun. */
  readonly hasDelivered: boolean;
}

/**
 * Returns whether an answer that broke off may be asked for once more. That is not done here: what came of it was most likely
 * billed, so it has to be recorded and a second one admitted first.
 */
export function mayAskAgain({ attempt, error, hasDelivered }: FailedAttempt, retriesMax: number): boolean {
  return hasDelivered && error.code === 'model_cut_off' && attempt <= retriesMax;
}

/**
 * Milliseconds to wait before the next try, or null for none. A server's own `retry-after` is honoured, and one of more than three minutes
 * ends the tries; otherwise the wait doubles from half a second, with jitter. `random` gives [0, 1).
 */
export function retryWaitMs(failed: FailedAttempt, retriesMax: number, random: () => number): number | null {
  if (failed.hasDelivered || !failed.error.isRetryable || failed.attempt > retriesMax) return null;
  const asked = failed.error.data['retryAfterMs'];
  if (typeof asked === 'number') return asked > WAIT_MS_MAX ? null : Math.max(0, asked);
  const ceilingMs = Math.min(BACKOFF_MS_MAX, BACKOFF_START_MS * 2 ** (failed.attempt - 1));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random());
}
