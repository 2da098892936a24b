// Performs `authorize` and `refuse`: checks each call's arguments, gathers its facts, asks the gate, and records the decision and the question.

import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Grant } from '../../contracts/policy.ts';
import type { Intent } from '../../agent/brain/brain.ts';
import type { CallState } from '../../agent/brain/brain.ts';
import type { CallTaint, JudgedCall } from '../../guard/taint/taint.ts';
import type { ParsedCall } from './ports.ts';
import type { RunningTurn, Step } from './running-turn.ts';

export function performAuthorize(runner: RunningTurn, intent: Extract<Intent, { kind: 'authorize' }>): Step {
  for (const call of callsOf(runner, intent.callIds)) authorizeCall(runner, call);
  return 'next';
}

/** Puts one call before the gate. Also used when what was approved has changed since. */
export function authorizeCall(runner: RunningTurn, call: CallState): void {
  const { deps, place } = runner;
  const parsed = deps.tools.parse(call.tool, call.args);
  if (!parsed.ok) {
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: parsed.error.toBody() });
    return;
  }
  try {
    decideCall(runner, call, parsed.value);
  } catch (cause) {
    const error = toAppError(cause);
    runner.emit('tool.rejected', { callId: call.callId, tool: call.tool, error: error.toBody() });
    if (error.code === 'internal')
      deps.logger.log('error', 'a call could not be judged', { ...place, tool: call.tool, cause: String(cause) });
  }
}

function decideCall(runner: RunningTurn, call: CallState, parsed: ParsedCall): void {
  const { deps, place } = runner;
  const { callId, tool } = call;
  const { argsJson, argsHash } = parsed;
  const facts = parsed.tool.facts(parsed.args, deps.facts);
  runner.callFacts.set(callId, facts);
  const request = {
    ...place,
    callId,
    tool,
    args: argsJson,
    argsHash,
    facts,
    origin: runner.origin,
    taint: taintOf(runner, { callId, tool, argsJson, argsHash, facts }),
    summary: parsed.tool.summarize(parsed.args),
  };
  const decision = deps.gate.authorize(request);
  const question = decision.decision === 'ask' ? deps.gate.question(request, decision) : null;
  runner.emit('policy.decided', {
    callId,
    tool,
    decision: decision.decision,
    ruleId: decision.ruleId,
    reason: decision.reason,
    facts,
    idempotency: parsed.tool.idempotency(parsed.args),
    verifies: parsed.tool.verify !== undefined,
    grantId: decision.grantId,
    approvalId: question?.approvalId ?? null,
  });
  if (decision.decision === 'allow') deps.gate.count(request);
  if (decision.firstUse !== null) bind(runner, decision.firstUse);
  if (question !== null) runner.emit('approval.requested', { approval: question });
}

/** Whose words the call may be following. What is known of it is read from the log, so what is not yet written is written first. */
function taintOf(runner: RunningTurn, call: Omit<JudgedCall, 'sessionId'>): CallTaint {
  const { taint } = runner.deps;
  const { sessionId } = runner.place;
  if (taint.isTainted(sessionId)) runner.flush();
  return taint.of({ ...call, sessionId });
}

/** What a command of config.yaml was made of when it first ran is on record before it runs. */
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
