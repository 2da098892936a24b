// The second check of a call, between the gate's decision and the approval or the run: uses the verifier that config.yaml names under
// `verify`, for the classes listed there and where the governor requires it. It may only make the decision stricter, and fails closed.

import { orAborted } from '../../base/deferred.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import { budgetPlaceOf } from './ask-budget.ts';
import type { RunningTurn } from './running-turn.ts';
import { tighten } from './tighten.ts';

/** Null if nothing is verified: no verifier is set up, the call is of another class, or it is already denied. */
export function verifyCall(runner: RunningTurn, call: VerifiedCall): Promise<GateDecision> | null {
  const { verifier } = runner.deps;
  const { decision, ruleId } = call;
  if (verifier === null || decision.decision === 'deny') return null;
  return ruleId !== null || verifier.covers(decision.class) ? verify(runner, call) : null;
}

export interface VerifiedCall {
  readonly request: GateRequest;
  readonly decision: GateDecision;
  /** The rule of the governor that requires the verification. */
  readonly ruleId: string | null;
}

async function verify(runner: RunningTurn, { request, decision, ruleId }: VerifiedCall): Promise<GateDecision> {
  const { callId } = request;
  const answer = await ask(runner, request, decision);
  if (!runner.halted) runner.emit('call.verified', { callId, ...answer, ...(ruleId === null ? {} : { ruleId }) });
  if (answer.outcome === 'pass') return decision;
  return tighten(decision, { decision: answer.outcome, ruleId: `verify.${answer.verdict.toLowerCase()}`, reason: answer.reason });
}

type Answer = Omit<EventBodies['call.verified'], 'callId' | 'ruleId'>;

async function ask(runner: RunningTurn, request: GateRequest, decision: GateDecision): Promise<Answer> {
  const { verifier, logger } = runner.deps;
  const { signal } = runner.abort;
  const unheard = (reason: string): Answer => ({ by: '', verdict: 'UNAVAILABLE', reason, outcome: 'deny', tookMs: 0 });
  if (verifier === null) return unheard('There is no verifier.');
  const said = runner.transcript.messages.findLast((message) => message.role === 'user')?.text ?? '';
  try {
    const about = { request, decision, said, place: budgetPlaceOf(runner) };
    // A verifier that ignores the signal must not block the turn.
    return await orAborted(verifier.verify(about, signal), signal, () => new AppError('cancelled', 'The turn was stopped.'));
  } catch (cause) {
    // A check that did not take place does not approve anything. A verifier handles its own failures, so this is a bug in it, or the end of
    // the turn.
    const { message } = toAppError(cause);
    logger.log('warn', 'a call could not be verified', { callId: request.callId, reason: message });
    return unheard(`This call could not be verified: ${message}`);
  }
}
