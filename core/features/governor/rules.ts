// The rules of the governor, as data: if the signals of a call or an answer reach the thresholds, the directive applies. The first
// condition names the signal that is reported. A rule cannot allow anything.

import type { Directive, Finding, SignalName } from '../../contracts/features/governor.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { Signals } from './signals.ts';

export interface Rule {
  readonly id: string;
  /** The minimum of each signal. */
  readonly when: Readonly<Partial<Record<SignalName, number>>>;
  /** Restricts the rule to calls of these classes. */
  readonly classes?: readonly ToolClass[];
  /** The rule also applies to the answer of a turn. */
  readonly ofAnswers?: true;
  readonly directive: Directive;
  /** A sentence about the call for a person. */
  readonly why: string;
}

/** Risk thresholds: changes something; reaches out or runs code; cannot be undone. */
const changing = 35;
const acting = 55;
const grave = 85;

const reachingOut: readonly ToolClass[] = ['network', 'exec', 'message'];

export const rules: readonly Rule[] = [
  { id: 'risk.validate', when: { risk: grave }, directive: 'validate', why: 'Its harm does not come back.' },
  { id: 'risk.escalate', when: { risk: grave }, directive: 'escalate', why: 'The turn does what cannot be taken back.' },
  {
    id: 'risk.tainted',
    when: { risk: grave, taint: 1 },
    directive: 'ask_person',
    why: 'The session has read untrusted content, and the harm of this call does not come back.',
  },
  { id: 'taint.acting', when: { derived: 1, risk: acting }, directive: 'ask_person', why: 'It may derive from untrusted content.' },
  { id: 'taint.changing', when: { derived: 1, risk: changing }, directive: 'validate', why: 'It may derive from untrusted content.' },
  {
    id: 'taint.many',
    when: { taint: 5, risk: acting },
    directive: 'ask_person',
    why: 'The session has read untrusted content from many sources.',
  },
  { id: 'failures.escalate', when: { failures: 2 }, directive: 'escalate', why: 'Two calls in a row failed.' },
  { id: 'failures.opinion', when: { failures: 3 }, ofAnswers: true, directive: 'second_opinion', why: 'Three calls in a row failed.' },
  { id: 'failures.ask', when: { failures: 4, risk: changing }, directive: 'ask_person', why: 'Four calls in a row failed.' },
  {
    id: 'failures.stop-class',
    when: { classFailures: 5, risk: changing },
    directive: 'stop_class',
    why: 'Five calls of this class failed in a row.',
  },
  { id: 'denials.ask', when: { denials: 2, risk: changing }, directive: 'ask_person', why: 'Two calls of this turn were denied.' },
  { id: 'denials.stop-class', when: { denials: 5, risk: acting }, directive: 'stop_class', why: 'Five calls of this turn were denied.' },
  {
    id: 'contradictions.opinion',
    when: { contradictions: 1 },
    ofAnswers: true,
    directive: 'second_opinion',
    why: 'A result contradicts an earlier one.',
  },
  {
    id: 'contradictions.validate',
    when: { contradictions: 1, risk: changing },
    directive: 'validate',
    why: 'A result contradicts an earlier one.',
  },
  {
    id: 'contradictions.ask',
    when: { contradictions: 2, risk: changing },
    directive: 'ask_person',
    why: 'Several results contradict earlier ones.',
  },
  { id: 'hedging.opinion', when: { hedging: 3 }, ofAnswers: true, directive: 'second_opinion', why: 'The model says that it is not sure.' },
  { id: 'hedging.ask', when: { hedging: 2, risk: acting }, directive: 'ask_person', why: 'The model says that it is not sure.' },
  { id: 'budget.cheaper', when: { budget: 80 }, directive: 'cheaper', why: 'Most of the budget is spent.' },
  {
    id: 'budget.spend',
    when: { budget: 80 },
    classes: ['spend'],
    directive: 'ask_person',
    why: 'Most of the budget is spent, and this spends more.',
  },
  {
    id: 'budget.last',
    when: { budget: 95, risk: acting },
    directive: 'ask_person',
    why: 'The budget may not last until the work is done.',
  },
  {
    id: 'novelty.tainted',
    when: { novelty: 1, taint: 1 },
    classes: reachingOut,
    directive: 'ask_person',
    why: 'The session has not used this host or command before, and has read untrusted content.',
  },
  {
    id: 'novelty.many',
    when: { novelty: 3 },
    classes: reachingOut,
    directive: 'ask_person',
    why: 'It reaches several hosts that the session has not used before.',
  },
  {
    id: 'grant.old',
    when: { grantAge: 30, risk: changing },
    directive: 'ask_person',
    why: 'The grant that allows it is more than 30 days old.',
  },
  {
    id: 'grant.tainted',
    when: { grantAge: 7, taint: 1, risk: changing },
    directive: 'ask_person',
    why: 'The grant that allows it is more than a week old, and the session has read untrusted content.',
  },
];

/** The conditions of a rule, in order. */
export function conditionsOf({ when }: Rule): [signal: SignalName, atLeast: number][] {
  return Object.entries(when) as [SignalName, number][];
}

/** The findings on a call, or on an answer if no class is given, in the order of the rules. */
export function judge(signals: Signals, toolClass: ToolClass | null, all: readonly Rule[] = rules): (Finding & Pick<Rule, 'why'>)[] {
  const findings: (Finding & Pick<Rule, 'why'>)[] = [];
  for (const { id: ruleId, when, classes, ofAnswers, directive, why } of all) {
    if (toolClass === null ? ofAnswers !== true : classes !== undefined && !classes.includes(toolClass)) continue;
    const signal = firingSignal(when, signals);
    if (signal === null) continue;
    findings.push({ signal, value: signals[signal], ruleId, directive, why });
  }
  return findings;
}

/**
 * The first signal of the conditions if all of them hold; otherwise null. Allocates nothing, because it runs for each rule at each call.
 */
function firingSignal(when: Rule['when'], signals: Signals): SignalName | null {
  let first: SignalName | null = null;
  let signal: SignalName;
  for (signal in when as Record<SignalName, number>) {
    if (signals[signal] < (when[signal] ?? 0)) return null;
    first ??= signal;
  }
  return first;
}
