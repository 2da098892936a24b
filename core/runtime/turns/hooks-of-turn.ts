// Runs the hooks a person set up for a turn: before its run, its model calls and its tool calls, and after them. They can refuse or require
// an approval; nothing here can allow.

import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { HookPoint, HookSubject, HookVerdict } from '../../contracts/features/hooks.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import type { RunningTurn } from './running-turn.ts';
import { tighten } from './tighten.ts';

/** Null if no hook matches the call, or if the gate already refused it. */
export function hookCall(runner: RunningTurn, request: GateRequest, decision: GateDecision): Promise<GateDecision> | null {
  if (runner.deps.hooks?.has('before_tool') !== true || decision.decision === 'deny') return null;
  const { callId, tool: name, args, summary, facts } = request;
  const subject = {
    ...subjectOf(runner, 'before_tool'),
    tool: { callId, name, class: facts.class, args, summary, decision: decision.decision },
  };
  return ask(runner, subject).then((verdict) => tightened(decision, verdict));
}

function tightened(decision: GateDecision, { decision: kind, reason }: HookVerdict): GateDecision {
  return kind === 'pass' ? decision : tighten(decision, { decision: kind, reason, ruleId: kind === 'deny' ? 'hook.denied' : 'hook.asked' });
}

/** Returns the reason why the run of a message must not continue; null if no hook objects. Called at its first step. */
export function hookRun(runner: RunningTurn): Promise<ErrorBody | null> | null {
  if (runner.deps.hooks?.has('before_run') !== true) return null;
  const said = runner.transcript.messages.findLast((message) => message.role === 'user');
  return refusal(runner, { ...subjectOf(runner, 'before_run'), run: { text: said?.text ?? '' } });
}

export function hookModel(runner: RunningTurn, model: { readonly ref: string; readonly tokens: number }): Promise<ErrorBody | null> | null {
  if (runner.deps.hooks?.has('before_model') !== true) return null;
  return refusal(runner, { ...subjectOf(runner, 'before_model'), model });
}

export function tellHooks(runner: RunningTurn, on: HookPoint, gather: () => Pick<HookSubject, 'run' | 'model' | 'tool'>): void {
  const { hooks } = runner.deps;
  if (hooks?.has(on) === true) hooks.after({ ...subjectOf(runner, on), ...gather() });
}

/** No approval is possible in the middle of a run, so the run ends and can be repeated. */
async function refusal(runner: RunningTurn, subject: HookSubject): Promise<ErrorBody | null> {
  const verdict = await ask(runner, subject);
  if (verdict.decision === 'pass') return null;
  const hint = 'See what the hook wants in config.yaml (hooks), then have the turn run again.';
  return new AppError('denied', verdict.reason, { hint }).toBody();
}

async function ask(runner: RunningTurn, subject: HookSubject): Promise<HookVerdict> {
  const { hooks } = runner.deps;
  if (hooks === null) return { decision: 'pass', reason: '' };
  return hooks.before(subject, runner.abort.signal, (ran) => {
    if (!runner.halted) runner.emit('hook.ran', ran);
  });
}

function subjectOf({ place, origin }: RunningTurn, on: HookPoint): HookSubject {
  return { on, ...place, agentId: origin.agentId, channel: origin.channel };
}
