// The further review of a grave call, between the gate's decision and the approval or the run. It may only make the decision stricter.

import { AppError, toAppError } from '../../contracts/errors.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import type { RunningTurn } from './running-turn.ts';

const reviewedClasses: readonly ToolClass[] = ['destructive', 'spend', 'credential'];

/** Null if there is no review: no reviewer is set up, the call is of another class, or the gate refused it already. */
export function reviewCall(runner: RunningTurn, request: GateRequest, decision: GateDecision): Promise<GateDecision> | null {
  const { reviewBefore } = runner.deps;
  if (reviewBefore === undefined || decision.decision === 'deny' || !reviewedClasses.includes(decision.class)) return null;
  return review(runner, request, decision);
}

async function review(runner: RunningTurn, request: GateRequest, decision: GateDecision): Promise<GateDecision> {
  const { reviewBefore, logger } = runner.deps;
  if (reviewBefore === undefined) return decision;
  try {
    const answer = await orAborted(reviewBefore.review(request, decision, runner.abort.signal), runner.abort.signal);
    if (answer.decision === 'deny') return stricter(decision, 'deny', answer.reason);
    if (answer.decision === 'ask' && decision.decision === 'allow') return stricter(decision, 'ask', answer.reason);
    return decision;
  } catch (cause) {
    // A review that did not take place is no yes: a person decides.
    logger.log('warn', 'a call could not be reviewed', { callId: request.callId, reason: toAppError(cause).message });
    if (decision.decision === 'ask') return decision;
    return stricter(decision, 'ask', 'The review of this call did not take place.');
  }
}

/** Grants do not apply here: they were given without knowing what the reviewer saw. */
function stricter(decision: GateDecision, kind: 'ask' | 'deny', reason: string): GateDecision {
  const ruleId = kind === 'deny' ? 'review.denied' : 'review.asked';
  return { ...decision, decision: kind, ruleId, reason, grantId: null, grantable: false };
}

/** A reviewer that ignores its signal must not block the turn. */
async function orAborted<T>(reviewing: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const give = (): void => reject(new AppError('cancelled', 'The turn was stopped.'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([reviewing, aborted]);
  } finally {
    over.abort();
  }
}
