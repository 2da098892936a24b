// Performs `authorize` and `refuse`: checks each call's arguments, gathers its facts, asks the gate, and records the decision and the
// approval.

import type { CallState, Intent } from '../../agent/brain/brain.ts';
import { orAborted } from '../../base/waits.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { type EventBodies, systemSessionId } from '../../contracts/events.ts';
import type { Grant } from '../../contracts/policy.ts';
import type { CallTaint } from '../../contracts/tools.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import type { JudgedCall as TaintedCall } from '../../guard/taint/taint.ts';
import { budgetPlaceOf } from './ask-budget.ts';
import { contextOf, factsOf, parseOnce, refuseInternal } from './call-facts.ts';
import { hookCall } from './hooks-of-turn.ts';
import type { ParsedCall } from './ports.ts';
import type { RunningTurn, Step } from './running-turn.ts';
import { tighten } from './tighten.ts';

export function performAuthorize(runner: RunningTurn, intent: Extract<Intent, { kind: 'authorize' }>): Step | Promise<Step> {
  const checks: Promise<void>[] = [];
  for (const call of callsOf(runner, intent.callIds)) {
    const check = authorizeCall(runner, call);
    if (check !== null) checks.push(check);
  }
  return checks.length === 0 ? 'next' : afterChecks(runner, checks);
}

/** Resolves when the decisions on all calls are recorded. */
export async function afterChecks(runner: RunningTurn, checks: readonly Promise<void>[]): Promise<Step> {
  await Promise.all(checks);
  return runner.halted ? 'halt' : 'next';
}

/**
 * Submits one call to the gate. Also used if an approved call has changed since. Returns a promise only if a hook or a verifier is still
 * being asked.
 */
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

/** Without the secrets the call would do something else than requested; with them they would be in the log and the approval. */
function withheldError(tool: string, names: readonly string[]): AppError {
  const what = names.length === 1 ? `a secret (${names[0]})` : `secrets (${names.join(', ')})`;
  return new AppError('invalid_arguments', `The arguments of ${tool} held ${what}, which was taken out; the call was not made.`, {
    hint: 'Refer to a file or an environment variable that holds it, or ask the person to put it in place.',
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
  const decision = applyFurtherChecks(runner, request, deps.gate.authorize(request));
  if (!(decision instanceof Promise)) {
    recordDecision(runner, { call, parsed, request }, decision);
    return null;
  }
  return decision.then(
    (stricter) => {
      if (!runner.halted) recordDecision(runner, { call, parsed, request }, stricter);
    },
    (cause: unknown) => {
      rejectCall(runner, call, cause);
    },
  );
}

/** Asks the governor first, then the person's own hooks, then the verifier. Each can only make the gate's decision stricter. */
function applyFurtherChecks(runner: RunningTurn, request: GateRequest, gated: GateDecision): GateDecision | Promise<GateDecision> {
  const { decision, verify } = governCall(runner, request, gated);
  const hooked = hookCall(runner, request, decision);
  const check = (now: GateDecision): GateDecision | Promise<GateDecision> =>
    verifyCall(runner, { request, decision: now, ruleId: verify }) ?? now;
  return hooked === null ? check(decision) : hooked.then(check);
}

/** Applies the governor to the decision. `verify` is the rule that requires a verification. */
function governCall(runner: RunningTurn, request: GateRequest, gated: GateDecision): { decision: GateDecision; verify: string | null } {
  const { deps, governed } = runner;
  if (governed === null || gated.decision === 'deny') return { decision: gated, verify: null };
  const assessment = governed.assessCall(request, gated, { ...budgetPlaceOf(runner), nowMs: deps.clock.nowMs() });
  if (assessment === null) return { decision: gated, verify: null };
  const { event, tightening, verify } = assessment;
  runner.emit('governor.assessed', event);
  const decision = tighten(gated, tightening);
  if (verify === null) return { decision, verify: null };
  // If no verifier is set up, the person is asked instead.
  return deps.verifier === null ? { decision: tighten(decision, verify.otherwise), verify: null } : { decision, verify: verify.ruleId };
}

interface JudgedCall {
  readonly call: CallState;
  readonly parsed: ParsedCall;
  readonly request: GateRequest;
}

function recordDecision(runner: RunningTurn, { call, parsed, request }: JudgedCall, decision: GateDecision): void {
  const approval = decision.decision === 'ask' ? runner.deps.gate.createApproval(request, decision) : null;
  runner.emit('policy.decided', {
    callId: call.callId,
    tool: call.tool,
    decision: decision.decision,
    ruleId: decision.ruleId,
    reason: decision.reason,
    facts: request.facts,
    idempotency: parsed.tool.idempotency(parsed.args),
    verifies: parsed.tool.verify !== undefined,
    ...(parsed.tool.isPrivate !== undefined ? { isPrivate: true as const } : {}),
    grantId: decision.grantId,
    approvalId: approval?.approvalId ?? null,
  });
  if (decision.decision === 'allow') {
    runner.deps.gate.count(request);
    if (decision.firstUse !== null) bind(runner, decision.firstUse);
  }
  if (approval !== null) runner.emit('approval.requested', { approval });
}

/** The untrusted sources that the call may be following. They are read from the log, so unwritten events are written first. */
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
      { hint: 'Use the result you have, or try something else.' },
    );
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: error.toBody() });
  }
  return 'next';
}

export function callsOf(runner: RunningTurn, callIds: readonly string[]): CallState[] {
  return runner.state.calls.filter((call) => callIds.includes(call.callId));
}

// The second check of a call, between the gate's decision and the approval or the run: uses the verifier that config.yaml names under
// `verify`, for the classes listed there and where the governor requires it. It may only make the decision stricter, and fails closed.

/** Null if nothing is verified: no verifier is set up, the call is of another class, or it is already denied. */
function verifyCall(runner: RunningTurn, call: VerifiedCall): Promise<GateDecision> | null {
  const { verifier } = runner.deps;
  const { decision, ruleId } = call;
  if (verifier === null || decision.decision === 'deny') return null;
  return ruleId !== null || verifier.covers(decision.class) ? verified(runner, call) : null;
}

interface VerifiedCall {
  readonly request: GateRequest;
  readonly decision: GateDecision;
  /** The rule of the governor that requires the verification. */
  readonly ruleId: string | null;
}

async function verified(runner: RunningTurn, { request, decision, ruleId }: VerifiedCall): Promise<GateDecision> {
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
