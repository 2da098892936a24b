// Turns that have not ended: whether one still accepts messages, what it comes after, and the end of one that never began. Reads only.

import { AppError, noTurn } from '../../contracts/errors.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import { noUsage } from '../../contracts/llm.ts';
import { applyEvent, emptyTurn, type TurnState } from '../../agent/brain/brain.ts';
import type { SessionLog, TurnRow } from '../../store/session/session.ts';

/** Fails with not_found or turn_not_running. */
export function findOpen(log: SessionLog, turnId: string): TurnRow {
  const row = log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  if (row.status !== 'running' && row.status !== 'waiting' && row.status !== 'queued') {
    throw new AppError('turn_not_running', `Turn ${turnId} has already ended (${row.status}).`);
  }
  return row;
}

/** The turn of the conversation that waits for a person and that this queued one comes after. Null if there is none. */
export function waitingAhead(log: Pick<SessionLog, 'index' | 'reads'>, { sessionId, status }: TurnRow): TurnRow | null {
  if (status !== 'queued') return null;
  const waiting = log.index.openTurns().filter((row) => row.sessionId === sessionId && row.status === 'waiting');
  // A waiting direct call does not block its conversation.
  return waiting.find((row) => stateOf(log, row).kind === 'chat') ?? null;
}

export function queueFull(sessionId: string, isOwn: boolean, queuedMax: number): AppError {
  const what = isOwn ? `Session ${sessionId} already has ${queuedMax} messages` : 'Too many sessions are';
  return new AppError('queue_full', `${what} waiting.`, {
    hint: `Wait for it to catch up${isOwn ? ', stop the running turn, or use another session' : ' or stop some turns'}.`,
  });
}

export function neverBegan(turnId: string, status: 'stopped' | 'cancelled'): AnyDraft {
  const body = { status, text: '', error: null, usage: noUsage, costUsd: 0, modelCalls: 0, toolCalls: 0 };
  return { type: 'turn.finished', turnId, phase: 'respond', body };
}

export function stateOf(log: Pick<SessionLog, 'reads'>, row: TurnRow): TurnState {
  return log.reads.turn(row.sessionId, row.turnId, row.firstSeq).reduce(applyEvent, emptyTurn);
}
