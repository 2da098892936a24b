// Why a turn of a run was not done, for the result of the run. Reads the end of the turn, decides nothing.

import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { SessionLog } from '../../store/session/session.ts';

/** Undefined if the turn was done, has not ended, or is null. */
export function errorOfTurn(
  log: Pick<SessionLog, 'reads'>,
  turn: { readonly sessionId: string; readonly turnId: string } | null,
): ErrorBody | undefined {
  const end = turn === null ? null : log.reads.turnEnd(turn.sessionId, turn.turnId);
  if (end?.status === 'stopped') return new AppError('panic_engaged', 'The panic stop ended its turn.').toBody();
  return end?.error ?? undefined;
}
