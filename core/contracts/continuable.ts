// Which errors end a turn but keep its work, so that another turn can continue it instead of doing it again.

import type { ErrorCode } from './errors.ts';

const limits: readonly ErrorCode[] = ['over_budget', 'step_limit', 'time_limit'];
/** The store refused what the turn recorded. What was recorded before is kept, and the results of its calls. */
const unrecorded: readonly ErrorCode[] = ['store_full', 'store_readonly', 'store_failed', 'store_locked'];

export function isUnrecorded(code: ErrorCode): boolean {
  return unrecorded.includes(code);
}

export function isContinuable(code: ErrorCode): boolean {
  return limits.includes(code) || isUnrecorded(code);
}
