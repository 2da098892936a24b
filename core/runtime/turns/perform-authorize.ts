// Performs `authorize` and `refuse`: checks each call's arguments, gathers its facts, asks the gate, and records the decision and the
// approval.

import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Grant } from '../../contracts/policy.ts';
import type { CallState, Intent } from '../../agent/brain/brain.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import type { CallTaint, JudgedCall as TaintedCall } from '../../guard/taint/taint.ts';
import { contextOf, factsOf, parseOnce, refuseInternal } from './call-facts.ts';
import type { ParsedCall } from './ports.ts';
import { hookCall } from './hooks-of-turn.ts';
import { reviewCall } from './review-call.ts';
import type { RunningTurn, Step } from './running-turn.ts';

export function performAuthorize(runner: RunningTurn, intent: Extract<Intent, { kind: 'authorize' }>): Step | Promise<Step> {
  const reviews: Promise<void>[] = [];
  for (const call of callsOf(runner, intent.callIds)) {
    const review = authorizeCall(runner, call);
    if (review !== null) reviews.push(review);
  }
  return reviews.length === 0 ? 'next' : afterReviews(runner, reviews);
}

/** Resolves when the answers of all reviews are on record. */
export async function afterReviews(runner: RunningTurn, reviews: readonly Promise<void>[]): Promise<Step> {
  await Promise.all(reviews);
  return runner.halted ? 'halt' : 'next';
}

/** Submits one call to the gate. Also used when an approved call has changed since. Null unless a review is running. */
export function authorizeCall(runner: RunningTurn, call: CallState): Promise<void> | null {
  if (call.withheld !== undefined) {
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: withheldError(call.tool, call.withheld).toBody() });
    return null;
  }
  const parsed = parseOnce(runner, call);
  if (!parsed.ok) {
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: parsed.error.toBody() });
    return null;
  }
  const refused = refuseInternal(runner, parsed.value);
  if (refused !== null) {
    rejectCall(runner, call, refused);
    return null;
  }
  try {
    return decideCall(runner, call, parsed.value);
  } catch (cause) {
    rejectCall(runner, call, cause);
    return null;
  }
}

export function rejectCall(runner: RunningTurn, call: CallState, cause: unknown): void {
  const error = toAppError(cause);
  runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: error.toBody() });
  if (error.code === 'internal')
    runner.deps.logger.log('error', 'a call could not be judged', { ...runner.place, tool: call.tool, cause: String(cause) });
}

/** Without them the call would do something else than requested; with them they would be in the log and the approval. */
function withheldError(tool: string, names: readonly string[]): AppError {
  const what = names.length === 1 ? `a secret (${names[0]})` : `secrets (${names.join(', ')})`;
  return new AppError('invalid_arguments', `The arguments of ${tool} held ${what}, which was taken out; the call was not made.`, {
    data: { hint: 'Refer to a file or an environment variable that holds it, or ask the person to put it in place.' },
  });
}

function decideCall(runner: RunningTurn, call: CallState, parsed: ParsedCall): Promise<void> | null {
  const { deps, place } = runner;
  const { callId, tool } = call;
  const { argsJson, argsHash } = parsed;
  const facts = factsOf(runner, parsed, contextOf(runner, parsed));
  runner.callFacts.set(callId, facts);
  const request: GateRequest = {
    ...place,
    callId,
    tool,
    args: argsJson,
    argsHash,
    facts,
    origin: runner.origin,
    taint: taintOf(runner, { callId, tool, argsJson, argsHash, facts }),
    summary: parsed.tool.summarize(parsed.args),
    ...(runner.bounds === null ? {} : { bounds: runner.bounds }),
  };
  const decision = deps.gate.authorize(request);
  const review = lookFurther(runner, request, decision);
  if (review === null) {
    recordDecision(runner, { call, parsed, request }, decision);
    return null;
  }
  return review.then(
    (reviewed) => {
      if (!runner.halted) recordDecision(runner, { call, parsed, request }, reviewed);
    },
    (cause: unknown) => {
      rejectCall(runner, call, cause);
    },
  );
}

/** The person's own hooks first, then the review: each can only make the gate's answer stricter. Null where there is neither. */
function lookFurther(runner: RunningTurn, request: GateRequest, decision: GateDecision): Promise<GateDecision> | null {
  const hooked = hookCall(runner, request, decision);
  if (hooked === null) return reviewCall(runner, request, decision);
  return hooked.then((stricter) => reviewCall(runner, request, stricter) ?? stricter);
}

interface JudgedCall {
  readonly call: CallState;
  readonly parsed: ParsedCall;
  readonly request: GateRequest;
}

function recordDecision(runner: RunningTurn, { call, parsed, request }: JudgedCall, decision: GateDecision): void {
  const question = decision.decision === 'ask' ? runner.deps.gate.question(request, decision) : null;
  runner.emit('policy.decided', {
    callId: call.callId,
    tool: call.tool,
    decision: decision.decision,
    ruleId: decision.ruleId,
    reason: decision.reason,
    facts: request.facts,
    idempotency: parsed.tool.idempotency(parsed.args),
    verifies: parsed.tool.verify !== undefined,
    ...(parsed.tool.isPrivate === true ? { isPrivate: true as const } : {}),
    grantId: decision.grantId,
    approvalId: question?.approvalId ?? null,
  });
  if (decision.decision === 'allow') {
    runner.deps.gate.count(request);
    if (decision.firstUse !== null) bind(runner, decision.firstUse);
  }
  if (question !== null) runner.emit('approval.requested', { approval: question });
}

/** The untrusted sources the call may be following. They are read from the log, so unwritten events are written first. */
function taintOf(runner: RunningTurn, call: Omit<TaintedCall, 'sessionId'>): CallTaint {
  const { taint } = runner.deps;
  const { sessionId } = runner.place;
  if (taint.isTainted(sessionId)) runner.flush();
  return taint.of({ ...call, sessionId });
}

/** Records the bindings of a command of config.yaml before its first run. */
function bind(runner: RunningTurn, grant: Grant): void {
  runner.flush(true, () => {
    runner.deps.log.append(systemSessionId, [{ type: 'grant.created', body: { grant } }]);
  });
}

export function performRefuse(runner: RunningTurn, intent: Extract<Intent, { kind: 'refuse' }>): Step {
  for (const call of callsOf(runner, intent.callIds)) {
    const error = new AppError(
      'loop_detected',
      `Not run again: ${call.tool} was called with the same arguments and gave the same result each time.`,
      {
        data: { hint: 'Use the result you have, or try something else.' },
      },
    );
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: error.toBody() });
  }
  return 'next';
}

export function callsOf(runner: RunningTurn, callIds: readonly string[]): CallState[] {
  return runner.state.calls.filter((call) => callIds.includes(call.callId));
}
