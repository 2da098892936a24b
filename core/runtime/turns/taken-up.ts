// Checks which ended turn may be continued, and collects the data that the new turn needs. Reads only.

import { isContinuable } from '../../contracts/continuable.ts';
import { AppError, noTurn } from '../../contracts/errors.ts';
import type { HelperOrigin } from '../../contracts/features/helpers.ts';
import { withoutPlan, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { aboutOf } from './inbound.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface EndedTurn {
  readonly sessionId: string;
  readonly agentId: string;
  /** The turn and those that it continued itself, oldest first. */
  readonly turnIds: string[];
  readonly bounds?: TurnBounds;
  readonly helper?: HelperOrigin;
}

/**
 * Fails with not_found, or with conflict for a turn that ended otherwise, that is not the newest of its session, or of which a call has
 * an unknown outcome.
 */
export function findEnded(log: SessionLog, turnId: string): EndedTurn {
  const row = log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const { sessionId } = row;
  const code = log.reads.turnEnd(sessionId, turnId)?.error?.code;
  if (code === undefined || !isContinuable(code)) {
    throw new AppError('conflict', `Turn ${turnId} was not ended by a budget, a limit or a full disk, so there is nothing to continue.`);
  }
  if (log.index.lastTurn(sessionId)?.turnId !== turnId) throw conversationContinued(turnId);
  const started = log.reads.turn(sessionId, turnId, row.firstSeq).find((event) => event.type === 'turn.started');
  if (started?.type !== 'turn.started' || started.body.kind !== 'chat') {
    throw new AppError('conflict', `Turn ${turnId} was a direct call, not a conversation.`);
  }
  const { agentId, continues, bounds, helper } = started.body;
  const turnIds = [...(continues?.turnIds ?? []), turnId];
  refuseUnknownOutcome(log, turnIds);
  // Whether a plan comes first is decided by the session, which may have approved one; a subagent inherits it from the turn that called it.
  const isOwn = bounds !== undefined && helper === undefined;
  return {
    sessionId,
    agentId,
    turnIds,
    ...aboutOf({ bounds: isOwn ? withoutPlan(bounds) : bounds, helper }),
  };
}

function refuseUnknownOutcome(log: SessionLog, turnIds: readonly string[]): void {
  const call = log.index.lostCalls().find(({ turnId }) => turnId !== null && turnIds.includes(turnId));
  if (call === undefined) return;
  const hint = 'Say what happened first: trayclaw outcomes list';
  throw new AppError('conflict', `The call ${call.callId} of turn ${call.turnId} has an unknown outcome.`, { hint });
}

/**
 * `isRetryable` if the conversation may be busy only with the turn itself, which is recorded as finished a moment before its lane is free.
 */
export function conversationContinued(turnId: string, isRetryable = false): AppError {
  const data = { hint: 'Send a message instead.' };
  return new AppError('conflict', `The conversation has continued since turn ${turnId}.`, { data, isRetryable });
}
