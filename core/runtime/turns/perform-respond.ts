// Performs `wait` and `respond`. Before a turn waits, everything another process needs to continue it is written.

import type { Intent } from '../../agent/brain/brain.ts';
import { tellHooks } from './hooks-of-turn.ts';
import { callsOf } from './perform-authorize.ts';
import type { RunningTurn, Step } from './running-turn.ts';

export function performWait(runner: RunningTurn, intent: Extract<Intent, { kind: 'wait' }>): Step {
  const approvalIds = callsOf(runner, intent.callIds)
    .map((call) => call.approvalId)
    .filter((approvalId) => approvalId !== null);
  runner.emit('turn.waiting', { approvalIds, callIds: [...intent.callIds] });
  runner.flush(true);
  return 'rest';
}

export function performRespond(runner: RunningTurn, intent: Extract<Intent, { kind: 'respond' }>): Step {
  const { state } = runner;
  for (const call of state.calls) {
    if (call.status !== 'waiting' || call.approvalId === null) continue;
    runner.emit('approval.decided', {
      approvalId: call.approvalId,
      callId: call.callId,
      decision: 'withdraw',
      scope: null,
      by: 'the end of the turn',
      grantId: null,
    });
  }
  const doubts = intent.status === 'done' ? (runner.governed?.assessAnswer() ?? null) : null;
  if (doubts !== null) runner.emit('governor.assessed', doubts);
  if (intent.text !== '') runner.emit('assistant.message', { text: intent.text });
  runner.emit('turn.finished', {
    status: intent.status,
    text: intent.text,
    error: intent.error,
    usage: state.usage,
    costUsd: state.costUsd,
    modelCalls: state.modelCalls,
    toolCalls: state.toolCalls,
  });
  runner.flush();
  runner.deps.budget.finishTurn(runner.place.turnId);
  tellHooks(runner, 'after_run', () => ({ run: { text: intent.text, status: intent.status, error: intent.error?.message ?? null } }));
  return 'rest';
}
