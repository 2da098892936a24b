// `turn.get`: a turn in the form of the operation's result.

import { noTurn } from '../../contracts/errors.ts';
import type { TurnCall, TurnDetails } from '../../contracts/op-results.ts';
import { foldTurnView } from '../../contracts/turn-view-fold.ts';
import type { CallView, RequestView, TurnView } from '../../contracts/turn-view.ts';
import { notDone } from '../../contracts/turn-words.ts';
import type { OpsParts } from './parts.ts';

export function readTurnView(deps: Pick<OpsParts, 'log'>, turnId: string): TurnDetails {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const turn = foldTurnView(turnId, deps.log.reads.turn(row.sessionId, turnId, row.firstSeq));
  const { error, finishedAtMs, model, decisions, packs, usage, costUsd, supersededBy } = turn;
  return {
    turnId,
    sessionId: row.sessionId,
    status: row.status === 'queued' ? 'running' : row.status,
    text: textOf(turn),
    error,
    startedAtMs: turn.beganAtMs === 0 ? row.atMs : turn.beganAtMs,
    finishedAtMs,
    model,
    phases: Object.entries(turn.phases).map(([phase, reached]) => ({ phase: phase as keyof TurnView['phases'], ...reached })),
    calls: Object.values(turn.calls).map(callOf),
    decisions,
    packs: packs.map(({ packId }) => packId),
    requests: turn.requests.map(requestOf),
    usage,
    costUsd,
    supersededBy,
  };
}

/** The answer, or the model's last text while there is no answer yet. */
function textOf({ answer, entries, finishedAtMs }: TurnView): string {
  if (answer !== '' || finishedAtMs !== null) return answer;
  const said = entries.findLast(({ kind }) => kind === 'text');
  return said?.kind === 'text' ? said.text : '';
}

function requestOf({ requestId, model, route, error }: RequestView): NonNullable<TurnDetails['requests']>[number] {
  const message = error?.message ?? null;
  return {
    requestId,
    model,
    route: route?.name ?? null,
    reason: route?.reason ?? null,
    passed: [...(route?.passed ?? [])],
    error: message,
  };
}

function callOf(call: CallView): TurnCall {
  const { callId, tool, args, state, decision, approval, error, endedAtMs, tookMs, artifacts } = call;
  const answer = approval === null || approval.state === 'pending' ? null : approval.state;
  const { forUser, forModel } = endedAtMs === null ? { forUser: notDone(call), forModel: notDone(call) } : call;
  return {
    callId,
    tool,
    args,
    // The summary of a call that was changed says what was asked, not what ran.
    summary: approval?.args === args ? approval.summary : '',
    decision: answer ?? decision?.decision ?? null,
    ruleId: decision?.ruleId ?? null,
    reason: error === null ? (decision?.reason ?? null) : (error.hint ?? null),
    outcome: state,
    forUser,
    forModel,
    tookMs,
    artifacts: [...artifacts],
  };
}
