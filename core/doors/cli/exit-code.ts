// Exit codes, which scripts rely on: 0 done, 1 failed, 2 usage, 3 waits for approval or denied, 4 over budget, 5 panic, 124 timed out,
// 130 interrupted.

import type { ErrorCode } from '../../contracts/errors.ts';
import type { TurnStatus } from '../../contracts/events.ts';

export const exitCodes = { done: 0, failed: 1, usage: 2, waiting: 3, overBudget: 4, panic: 5, timedOut: 124, interrupted: 130 } as const;

const codesOfErrors: Partial<Record<ErrorCode, number>> = {
  invalid_params: exitCodes.usage,
  unknown_op: exitCodes.usage,
  invalid_arguments: exitCodes.usage,
  denied: exitCodes.waiting,
  address_refused: exitCodes.waiting,
  over_budget: exitCodes.overBudget,
  panic_engaged: exitCodes.panic,
  cancelled: exitCodes.interrupted,
};

export function exitCodeOfError(code: ErrorCode): number {
  return codesOfErrors[code] ?? exitCodes.failed;
}

export function exitCodeOfTurn(turn: { readonly status: TurnStatus; readonly error?: { readonly code: ErrorCode } | undefined }): number {
  switch (turn.status) {
    case 'done':
      return exitCodes.done;
    case 'waiting':
      return exitCodes.waiting;
    case 'over_budget':
      return exitCodes.overBudget;
    case 'stopped':
      return exitCodes.panic;
    case 'failed':
      return exitCodeOfFailure(turn.error);
    case 'cancelled':
    case 'running':
      return exitCodes.failed;
  }
}

/** For work that ended with the error of a turn, which is never a usage error of the caller. */
export function exitCodeOfFailure(error: { readonly code: ErrorCode } | undefined): number {
  const code = error === undefined ? exitCodes.failed : exitCodeOfError(error.code);
  return code === exitCodes.usage ? exitCodes.failed : code;
}
