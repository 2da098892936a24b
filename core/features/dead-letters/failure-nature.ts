// Classifies failures as transient or lasting by their error code. Does not decide whether a turn is retried.

import type { FailureNature } from '../../contracts/features/dead-letters.ts';
import type { ErrorCode } from '../../contracts/errors.ts';

/** Failures of a server, the network or this machine that may pass without any change. Every other error code needs a person. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'fetch_failed',
  'model_rate_limited',
  'model_unavailable',
  'model_timeout',
  'model_cut_off',
  'model_bad_reply',
  'queue_full',
  'rate_limited',
  'store_locked',
]);

export function natureOf(code: ErrorCode): FailureNature {
  return passing.has(code) ? 'transient' : 'permanent';
}

export interface Backoff {
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
}

/**
 * The back-off before a retry. It doubles with each failure, and half of it is random, so that turns that failed together are not retried
 * together.
 */
export function waitBefore(attempt: number, { firstWaitMs, longestWaitMs }: Backoff, random: () => number): number {
  const ceilingMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random());
}
