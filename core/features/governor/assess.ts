// Turns findings into an assessment: the strictest directive decides how the gate's decision changes. Pure. By its type, a tightening can
// never allow a call.

import type { Assessed, Directive, Finding, GovernorConfig } from '../../contracts/features/governor.ts';
import type { DecisionKind } from '../../contracts/policy.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { Assessment } from '../../runtime/turns/turns.ts';
import { judge, type Rule } from './rules.ts';
import { signalsOfAnswer, signalsOfCall, type CallMoment, type Followed } from './signals.ts';

type Why = Finding & Pick<Rule, 'why'>;

export interface AssessedCall extends CallMoment {
  readonly callId: string;
  readonly decision: DecisionKind;
}

/** Null if no rule fires and the class is not stopped. */
export function assessCall(turn: Followed, call: AssessedCall, { mode, ...config }: GovernorConfig): Assessment | null {
  if (mode === 'off') return null;
  const toolClass = call.facts.class;
  const found = judge(signalsOfCall(turn, call), toolClass);
  const isStopped = turn.stopped.has(toolClass);
  if (found.length === 0 && !isStopped) return null;
  const findings = isStopped ? [stoppedBefore(turn, toolClass), ...found] : found;
  const isOn = mode === 'on';
  const event: Assessed = {
    callId: call.callId,
    mode,
    decision: call.decision,
    class: toolClass,
    findings: findings.map(plain),
    applied: isOn ? directivesOf(findings).filter((directive) => hasEffect(directive, config)) : [],
  };
  if (!isOn) return { event, tightening: null, verify: null };
  const stop = findings.find(({ directive }) => directive === 'stop_class');
  const ask = findings.find(({ directive }) => directive === 'ask_person');
  const verify = findings.find(({ directive }) => directive === 'validate');
  return {
    event,
    tightening: stop === undefined ? tighteningOf(ask, 'ask') : tighteningOf(stop, 'deny'),
    verify: verify === undefined ? null : { ruleId: verify.ruleId, otherwise: { decision: 'ask', ...wordsOf(verify) } },
  };
}

/** Null if no rule about answers fires. */
export function assessAnswer(turn: Followed, { mode }: GovernorConfig): Assessed | null {
  if (mode === 'off') return null;
  const findings = judge(signalsOfAnswer(turn), null);
  if (findings.length === 0) return null;
  const applied = mode === 'on' ? directivesOf(findings) : [];
  return { callId: null, mode, findings: findings.map(plain), applied };
}

/** Without a configured model to change to, the turn keeps its model. */
function hasEffect(directive: Directive, { stronger, cheaper }: Omit<GovernorConfig, 'mode'>): boolean {
  if (directive === 'escalate') return stronger !== undefined;
  return directive !== 'cheaper' || cheaper !== undefined;
}

/** The finding in the form in which it is recorded. */
function plain({ signal, value, ruleId, directive }: Why): Finding {
  return { signal, value, ruleId, directive };
}

function directivesOf(findings: readonly Why[]): Directive[] {
  return [...new Set(findings.map(({ directive }) => directive))];
}

/** A stopped class stays stopped for the rest of the turn, whatever the signals are now. */
function stoppedBefore(turn: Followed, toolClass: ToolClass): Why {
  const why = 'No more calls of this class in this turn.';
  return { signal: 'classFailures', value: turn.classFailures.get(toolClass) ?? 0, ruleId: 'class.stopped', directive: 'stop_class', why };
}

function tighteningOf(finding: Why | undefined, decision: 'ask' | 'deny'): Assessment['tightening'] {
  return finding === undefined ? null : { decision, ...wordsOf(finding) };
}

function wordsOf({ ruleId, why }: Why): { readonly ruleId: string; readonly reason: string } {
  return { ruleId: `governor.${ruleId}`, reason: why };
}
