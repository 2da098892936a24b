// A turn for people: phases, calls, decisions, costs, read from its events.

import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { AnyEvent, EventBodies, Phase } from '../../contracts/events.ts';
import { noUsage, type RequestedCall } from '../../contracts/llm.ts';
import type { TurnCall, TurnView } from '../../contracts/op-results.ts';
import { timedOut } from '../../contracts/policy.ts';
import type { OpsParts } from './parts.ts';

type Draft = { -readonly [K in keyof TurnView]: TurnView[K] };

export function readTurnView(deps: Pick<OpsParts, 'log'>, turnId: string): TurnView {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw new AppError('not_found', `There is no turn ${turnId}.`);
  const events = deps.log.reads.turn(row.sessionId, turnId, row.firstSeq);
  const view: Draft = {
    turnId,
    sessionId: row.sessionId,
    status: row.status === 'queued' ? 'running' : row.status,
    text: '',
    error: null,
    startedAtMs: events[0]?.atMs ?? row.atMs,
    finishedAtMs: null,
    model: null,
    phases: [],
    calls: [],
    decisions: [],
    packs: [],
    usage: noUsage,
    costUsd: 0,
    supersededBy: null,
  };
  const calls = new Map<string, TurnCall>();
  const phases = new Map<Phase, { phase: Phase; atMs: number; events: number }>();
  for (const event of events) {
    countPhase(phases, event);
    applyToView(view, event);
    applyToCalls(calls, event);
  }
  return { ...view, phases: [...phases.values()], calls: [...calls.values()] };
}

function countPhase(phases: Map<Phase, { phase: Phase; atMs: number; events: number }>, event: AnyEvent): void {
  if (event.phase === null) return;
  const seen = phases.get(event.phase);
  if (seen === undefined) phases.set(event.phase, { phase: event.phase, atMs: event.atMs, events: 1 });
  else seen.events += 1;
}

function applyToView(view: Draft, event: AnyEvent): void {
  switch (event.type) {
    case 'turn.started':
      view.model = event.body.model;
      return;
    case 'brain.decided':
      view.decisions.push({ step: event.step, phase: event.phase, intent: event.body.intent, reason: event.body.reason });
      return;
    case 'pack.built':
      view.packs.push(event.body.packId);
      return;
    case 'model.finished':
      view.text = event.body.text;
      view.usage = {
        inputTokens: view.usage.inputTokens + event.body.usage.inputTokens,
        outputTokens: view.usage.outputTokens + event.body.usage.outputTokens,
        cachedInputTokens: view.usage.cachedInputTokens + event.body.usage.cachedInputTokens,
      };
      view.costUsd = view.costUsd === null || event.body.costUsd === null ? null : view.costUsd + event.body.costUsd;
      return;
    case 'turn.superseded':
      view.supersededBy = event.body.byTurnId;
      return;
    case 'turn.finished':
      view.text = event.body.text;
      view.error = event.body.error;
      view.finishedAtMs = event.atMs;
      return;
    default:
      return;
  }
}

function applyToCalls(calls: Map<string, TurnCall>, event: AnyEvent): void {
  const change = (callId: string, part: Partial<TurnCall>): void => {
    const call = calls.get(callId);
    if (call !== undefined) calls.set(callId, { ...call, ...part });
  };
  switch (event.type) {
    case 'turn.started':
    case 'model.finished':
      for (const call of event.body.calls) calls.set(call.callId, proposed(call));
      return;
    case 'tool.rejected':
      change(event.body.callId, rejected(event.body.error));
      return;
    case 'policy.decided':
      change(event.body.callId, gated(event.body));
      return;
    case 'approval.requested':
      change(event.body.approval.callId, { summary: event.body.approval.summary });
      return;
    case 'approval.decided':
      change(event.body.callId, answered(event.body));
      return;
    case 'tool.requested':
      change(event.body.callId, { outcome: 'running' });
      return;
    case 'tool.outcome_unknown':
      change(event.body.callId, { outcome: 'unknown', forUser: event.body.reason });
      return;
    case 'tool.finished':
      change(event.body.callId, {
        outcome: event.body.outcome,
        forUser: event.body.forUser,
        tookMs: event.body.tookMs,
        artifacts: event.body.artifacts,
        forModel: event.body.forModel,
      });
      return;
    default:
      return;
  }
}

function rejected(error: ErrorBody): Partial<TurnCall> {
  return { outcome: 'error', forUser: error.message, reason: error.hint ?? null };
}

function gated({ decision, ruleId, reason }: EventBodies['policy.decided']): Partial<TurnCall> {
  if (decision === 'deny') return { decision, ruleId, reason, outcome: 'denied', forUser: reason };
  return { decision, ruleId, reason, outcome: decision === 'ask' ? 'waiting' : 'proposed' };
}

function answered({ decision, by, reason }: EventBodies['approval.decided']): Partial<TurnCall> {
  if (decision === 'approve') return { decision: 'approved' };
  const why = by === timedOut ? 'nobody answered in time' : `${by} said no${reason === undefined ? '' : `: ${reason}`}`;
  return { decision: decision === 'deny' ? 'denied' : 'withdrawn', outcome: 'denied', forUser: `Not done: ${why}.` };
}

function proposed(call: RequestedCall): TurnCall {
  return {
    callId: call.callId,
    tool: call.tool,
    args: call.args,
    summary: '',
    decision: null,
    ruleId: null,
    reason: null,
    outcome: 'proposed',
    forUser: '',
    forModel: '',
    tookMs: null,
    artifacts: [],
  };
}
