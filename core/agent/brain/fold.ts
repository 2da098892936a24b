// The fold: applies a turn's events, one at a time, to the state that the brain decides on. Pure. An irrelevant event changes only the
// time.

import { assert } from '../../base/assert.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { RequestedCall } from '../../contracts/llm.ts';
import { addSpending } from '../../contracts/spending.ts';
import { isResolved, repeatKey, type CallState, type Repeat, type TurnState } from './turn-state.ts';

/** The fields of an event that the fold reads; a draft with a time is sufficient. */
export type TurnEvent = { [T in AnyEvent['type']]: Pick<EventOf<T>, 'type' | 'atMs' | 'body'> }[AnyEvent['type']];

export function applyEvent(state: TurnState, event: TurnEvent): TurnState {
  const next = applyBody(state, event);
  return next.lastAtMs === event.atMs ? next : { ...next, lastAtMs: event.atMs };
}

function applyBody(state: TurnState, event: TurnEvent): TurnState {
  switch (event.type) {
    case 'turn.started':
      return startTurn(state, event);
    case 'turn.steered':
      return { ...state, unseenSteers: state.unseenSteers + 1, packId: null };
    case 'turn.cancel_requested':
      return { ...state, cancel: { reason: event.body.reason, by: event.body.by } };
    case 'turn.waiting':
      return { ...state, status: 'waiting', waitingSinceMs: event.atMs };
    case 'turn.resumed':
      return resumeTurn(state, event.body);
    case 'turn.finished':
      return { ...state, status: 'finished' };
    case 'brain.decided':
      return { ...state, step: state.step + 1, status: 'running' };
    case 'pack.built':
      // A new pack means the model is asked again, so the previous answer is not the final one.
      return { ...state, packId: event.body.packId, unseenSteers: 0, reply: null };
    case 'model.requested':
      return { ...state, requestId: event.body.requestId, reply: null };
    case 'model.finished':
      return finishModel(state, event.body);
    case 'model.failed':
      return failModel(state, event.body);
    case 'budget.exceeded':
      return { ...state, overBudget: event.body };
    default:
      return applyToCalls(state, event);
  }
}

function applyToCalls(state: TurnState, event: TurnEvent): TurnState {
  switch (event.type) {
    case 'tool.rejected':
      return changeCall(state, event.body.callId, { status: 'rejected', outcome: 'error', resultHash: event.body.error.code });
    case 'policy.decided':
      return gateCall(state, event.body);
    case 'approval.decided':
      return answerCall(state, event.body);
    case 'tool.requested':
      return { ...changeCall(state, event.body.callId, { status: 'running' }), toolCalls: state.toolCalls + 1 };
    case 'tool.finished':
      return finishCall(state, event.body);
    case 'tool.outcome_unknown':
      // A call whose tool said so has its result, and the turn continues.
      return event.body.reported === true ? state : changeCall(state, event.body.callId, { status: 'unknown' });
    case 'tool.outcome_settled':
      return event.body.answer === 'retry' ? changeCall(state, event.body.callId, { status: 'allowed', retried: true }) : state;
    case 'verification.finished':
      return changeCall(state, event.body.callId, { verified: true, ...(event.body.ok ? {} : { outcome: 'error' }) });
    case 'observation.recorded':
      return observe(state);
    case 'reflection.recorded':
      return { ...state, reflected: true, reflections: state.reflections + 1 };
    default:
      return addVerification(state, event);
  }
}

function addVerification(state: TurnState, event: TurnEvent): TurnState {
  if (event.type !== 'call.verified' || event.body.usage === undefined) return state;
  return { ...state, ...addSpending(state, { usage: event.body.usage, costUsd: event.body.costUsd ?? null }) };
}

function startTurn(state: TurnState, event: { atMs: number; body: EventOf<'turn.started'>['body'] }): TurnState {
  assert(state.status === 'idle', 'a turn starts once');
  const { kind, limits, calls } = event.body;
  return { ...state, kind, limits, startedAtMs: event.atMs, status: 'running', ...propose(calls) };
}

function propose(calls: readonly RequestedCall[]): Pick<TurnState, 'calls' | 'observed' | 'reflected'> {
  return {
    calls: calls.map((call) => ({
      callId: call.callId,
      tool: call.tool,
      args: call.args,
      ...(call.withheld === undefined ? {} : { withheld: call.withheld }),
      status: 'proposed',
      idempotency: 'unsafe',
      verifies: false,
      verified: false,
      approvalId: null,
      grantId: null,
      retried: false,
      outcome: null,
      resultHash: '',
    })),
    observed: calls.length === 0,
    reflected: calls.length === 0,
  };
}

function finishModel(state: TurnState, body: EventOf<'model.finished'>['body']): TurnState {
  return {
    ...state,
    ...addSpending(state, body),
    requestId: null,
    packId: null,
    modelCalls: state.modelCalls + 1,
    brokeOff: false,
    rerouted: false,
    reply: body.calls.length === 0 ? { text: body.text, finishReason: body.finishReason } : null,
    ...propose(body.calls),
  };
}

/**
 * Handles a failed model call. The first overflow leads to a smaller pack, the first interrupted answer to a repeat with the same pack, and
 * a route fails over to its next model. Any other failure ends the turn.
 */
function failModel(state: TurnState, body: EventOf<'model.failed'>['body']): TurnState {
  const spending = body.usage === undefined ? {} : addSpending(state, { usage: body.usage, costUsd: body.costUsd ?? null });
  const next = { ...state, ...spending, requestId: null, packId: null, modelCalls: state.modelCalls + 1 };
  // Another model needs a new pack.
  if (body.failover !== undefined) return { ...next, rerouted: true };
  if (body.error.code === 'model_context_overflow' && !state.overflowed) return { ...next, overflowed: true };
  if (body.again === true) return { ...next, packId: state.packId, brokeOff: true };
  if (body.error.code === 'cancelled' && state.cancel !== null) return next;
  return { ...next, failure: body.error };
}

/** After a restart nothing is in flight: repeatable calls are allowed again, and the model is asked again. */
function resumeTurn(state: TurnState, { restedMs = 0 }: EventOf<'turn.resumed'>['body']): TurnState {
  return {
    ...state,
    status: 'running',
    waitingSinceMs: null,
    restedMs: state.restedMs + restedMs,
    requestId: null,
    packId: null,
    calls: state.calls.map((call) =>
      call.status === 'running' && call.idempotency !== 'unsafe' ? { ...call, status: 'allowed', retried: true } : call,
    ),
  };
}

function gateCall(state: TurnState, body: EventOf<'policy.decided'>['body']): TurnState {
  const status = body.decision === 'allow' ? 'allowed' : body.decision === 'ask' ? 'waiting' : 'denied';
  const { approvesPlan } = body.facts;
  // A request for the next step ends the previous one.
  const now = approvesPlan === true ? { ...state, planApproved: false } : state;
  return changeCall(now, body.callId, {
    status,
    ...(approvesPlan === true ? { approvesPlan } : {}),
    idempotency: body.idempotency,
    verifies: body.verifies,
    grantId: body.grantId,
    approvalId: body.approvalId,
    ...(status === 'denied' ? { outcome: 'denied' } : {}),
  });
}

function finishCall(state: TurnState, { callId, outcome, resultHash }: EventOf<'tool.finished'>['body']): TurnState {
  const next = changeCall(state, callId, { status: 'finished', outcome, resultHash });
  const isPlan = outcome === 'ok' && next.calls.some((call) => call.callId === callId && call.approvesPlan === true);
  return isPlan ? { ...next, planApproved: true } : next;
}

function answerCall(state: TurnState, { callId, decision, grantId, edited }: EventOf<'approval.decided'>['body']): TurnState {
  // An edited call counts as a new call and goes through the gate again.
  if (edited !== undefined) return changeCall(state, callId, { status: 'proposed', args: edited.args, approvalId: null, grantId: null });
  return decision === 'approve'
    ? changeCall(state, callId, { status: 'allowed', grantId })
    : changeCall(state, callId, { status: 'denied', outcome: 'denied' });
}

function observe(state: TurnState): TurnState {
  const { repeats, repeatedMost } = countRepeats(state);
  const allFailed = state.calls.length > 0 && state.calls.every((call) => call.outcome !== 'ok');
  return { ...state, observed: true, repeats, repeatedMost, failedBatches: allFailed ? state.failedBatches + 1 : 0 };
}

/** Counts repeated calls for the loop guard once every call of a step has its result. */
export function countRepeats(state: TurnState): { repeats: Record<string, Repeat>; repeatedMost: number } {
  let repeats: Record<string, Repeat> = { ...state.repeats };
  let repeatedMost = 0;
  for (const call of state.calls) {
    const key = repeatKey(call);
    const before = repeats[key];
    // A change to the world resets the other counts: reading the same thing again after a change is not a loop.
    if (call.outcome === 'ok' && call.idempotency !== 'pure') repeats = {};
    const refused = before !== undefined && call.resultHash === refusedHash;
    const resultHash = refused ? before.resultHash : call.resultHash;
    const count = before?.resultHash === resultHash ? before.count + 1 : 1;
    repeats[key] = { resultHash, count };
    repeatedMost = Math.max(repeatedMost, count);
  }
  return { repeats, repeatedMost };
}

/** The result hash of a refused repetition. Such a call keeps adding to the count of the call it repeats. */
const refusedHash = 'loop_detected';

function changeCall(state: TurnState, callId: string, change: Partial<CallState>): TurnState {
  const index = state.calls.findIndex((call) => call.callId === callId);
  const call = state.calls[index];
  if (call === undefined) return state;
  assert(!isResolved(call) || change.verified === true || change.status === undefined, `call ${callId} is already resolved`);
  const calls = state.calls.slice();
  calls[index] = { ...call, ...change };
  return { ...state, calls };
}
