// Which failures pass by themselves, told by the code alone. Decides nothing about whether a turn is tried again.

import type { FailureNature } from '../../contracts/features/dead-letters.ts';
import type { ErrorCode } from '../../contracts/errors.ts';

/** What a server, the network or this machine may get over without anybody changing anything. Every other code needs somebody. */
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

/** Doubles with each failure; half of it is left to chance, so that many that failed together do not come back together. */
export function waitBefore(attempt: number, { firstWaitMs, longestWaitMs }: Backoff, random: () => number): number {
  const ceilingMs = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(attempt - 1, 30));
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random());
}
