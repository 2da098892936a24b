// Checks the rules against a table of situations. Control tests remove each rule and lower each condition by one.

import { expect, test } from 'vitest';
import { signalNames, type SignalName } from '../../contracts/features/governor.ts';
import type { CallFacts, ToolClass } from '../../contracts/tools.ts';
import { conditionsOf, judge, rules } from './rules.ts';
import { riskOf, type Signals } from './signals.ts';

/** The class of a call determines its risk. Signals that are left out are 0. */
type Situation = readonly [toolClass: ToolClass, signals: Readonly<Partial<Record<SignalName, number>>>, rules: string];

const situations: readonly Situation[] = [
  ['read', {}, ''],
  ['write', {}, ''],
  ['network', {}, ''],
  ['exec', {}, ''],
  ['message', {}, ''],
  ['hardware', {}, ''],
  ['spend', {}, 'risk.validate risk.escalate'],
  ['credential', {}, 'risk.validate risk.escalate'],
  ['destructive', {}, 'risk.validate risk.escalate'],
  ['read', { taint: 1 }, ''],
  ['write', { taint: 1 }, ''],
  ['exec', { taint: 1 }, ''],
  ['spend', { taint: 1 }, 'risk.validate risk.escalate risk.tainted'],
  ['message', { taint: 1 }, ''],
  ['read', { taint: 4 }, ''],
  ['write', { taint: 4 }, ''],
  ['exec', { taint: 4 }, ''],
  ['spend', { taint: 4 }, 'risk.validate risk.escalate risk.tainted'],
  ['message', { taint: 4 }, ''],
  ['read', { taint: 5 }, ''],
  ['write', { taint: 5 }, ''],
  ['exec', { taint: 5 }, 'taint.many'],
  ['spend', { taint: 5 }, 'risk.validate risk.escalate risk.tainted taint.many'],
  ['message', { taint: 5 }, 'taint.many'],
  ['read', { derived: 1 }, ''],
  ['write', { derived: 1 }, 'taint.changing'],
  ['exec', { derived: 1 }, 'taint.acting taint.changing'],
  ['spend', { derived: 1 }, 'risk.validate risk.escalate taint.acting taint.changing'],
  ['message', { derived: 1 }, 'taint.acting taint.changing'],
  ['read', { failures: 1 }, ''],
  ['write', { failures: 1 }, ''],
  ['exec', { failures: 1 }, ''],
  ['spend', { failures: 1 }, 'risk.validate risk.escalate'],
  ['message', { failures: 1 }, ''],
  ['read', { failures: 2 }, 'failures.escalate'],
  ['write', { failures: 2 }, 'failures.escalate'],
  ['exec', { failures: 2 }, 'failures.escalate'],
  ['spend', { failures: 2 }, 'risk.validate risk.escalate failures.escalate'],
  ['message', { failures: 2 }, 'failures.escalate'],
  ['read', { failures: 3 }, 'failures.escalate failures.opinion'],
  ['write', { failures: 3 }, 'failures.escalate failures.opinion'],
  ['exec', { failures: 3 }, 'failures.escalate failures.opinion'],
  ['spend', { failures: 3 }, 'risk.validate risk.escalate failures.escalate failures.opinion'],
  ['message', { failures: 3 }, 'failures.escalate failures.opinion'],
  ['read', { failures: 4 }, 'failures.escalate failures.opinion'],
  ['write', { failures: 4 }, 'failures.escalate failures.opinion failures.ask'],
  ['exec', { failures: 4 }, 'failures.escalate failures.opinion failures.ask'],
  ['spend', { failures: 4 }, 'risk.validate risk.escalate failures.escalate failures.opinion failures.ask'],
  ['message', { failures: 4 }, 'failures.escalate failures.opinion failures.ask'],
  ['read', { classFailures: 4 }, ''],
  ['write', { classFailures: 4 }, ''],
  ['exec', { classFailures: 4 }, ''],
  ['spend', { classFailures: 4 }, 'risk.validate risk.escalate'],
  ['message', { classFailures: 4 }, ''],
  ['read', { classFailures: 5 }, ''],
  ['write', { classFailures: 5 }, 'failures.stop-class'],
  ['exec', { classFailures: 5 }, 'failures.stop-class'],
  ['spend', { classFailures: 5 }, 'risk.validate risk.escalate failures.stop-class'],
  ['message', { classFailures: 5 }, 'failures.stop-class'],
  ['read', { denials: 1 }, ''],
  ['write', { denials: 1 }, ''],
  ['exec', { denials: 1 }, ''],
  ['spend', { denials: 1 }, 'risk.validate risk.escalate'],
  ['message', { denials: 1 }, ''],
  ['read', { denials: 2 }, ''],
  ['write', { denials: 2 }, 'denials.ask'],
  ['exec', { denials: 2 }, 'denials.ask'],
  ['spend', { denials: 2 }, 'risk.validate risk.escalate denials.ask'],
  ['message', { denials: 2 }, 'denials.ask'],
  ['read', { denials: 4 }, ''],
  ['write', { denials: 4 }, 'denials.ask'],
  ['exec', { denials: 4 }, 'denials.ask'],
  ['spend', { denials: 4 }, 'risk.validate risk.escalate denials.ask'],
  ['message', { denials: 4 }, 'denials.ask'],
  ['read', { denials: 5 }, ''],
  ['write', { denials: 5 }, 'denials.ask'],
  ['exec', { denials: 5 }, 'denials.ask denials.stop-class'],
  ['spend', { denials: 5 }, 'risk.validate risk.escalate denials.ask denials.stop-class'],
  ['message', { denials: 5 }, 'denials.ask denials.stop-class'],
  ['read', { contradictions: 1 }, 'contradictions.opinion'],
  ['write', { contradictions: 1 }, 'contradictions.opinion contradictions.validate'],
  ['exec', { contradictions: 1 }, 'contradictions.opinion contradictions.validate'],
  ['spend', { contradictions: 1 }, 'risk.validate risk.escalate contradictions.opinion contradictions.validate'],
  ['message', { contradictions: 1 }, 'contradictions.opinion contradictions.validate'],
  ['read', { contradictions: 2 }, 'contradictions.opinion'],
  ['write', { contradictions: 2 }, 'contradictions.opinion contradictions.validate contradictions.ask'],
  ['exec', { contradictions: 2 }, 'contradictions.opinion contradictions.validate contradictions.ask'],
  ['spend', { contradictions: 2 }, 'risk.validate risk.escalate contradictions.opinion contradictions.validate contradictions.ask'],
  ['message', { contradictions: 2 }, 'contradictions.opinion contradictions.validate contradictions.ask'],
  ['read', { hedging: 1 }, ''],
  ['write', { hedging: 1 }, ''],
  ['exec', { hedging: 1 }, ''],
  ['spend', { hedging: 1 }, 'risk.validate risk.escalate'],
  ['message', { hedging: 1 }, ''],
  ['read', { hedging: 2 }, ''],
  ['write', { hedging: 2 }, ''],
  ['exec', { hedging: 2 }, 'hedging.ask'],
  ['spend', { hedging: 2 }, 'risk.validate risk.escalate hedging.ask'],
  ['message', { hedging: 2 }, 'hedging.ask'],
  ['read', { hedging: 3 }, 'hedging.opinion'],
  ['write', { hedging: 3 }, 'hedging.opinion'],
  ['exec', { hedging: 3 }, 'hedging.opinion hedging.ask'],
  ['spend', { hedging: 3 }, 'risk.validate risk.escalate hedging.opinion hedging.ask'],
  ['message', { hedging: 3 }, 'hedging.opinion hedging.ask'],
  ['read', { budget: 79 }, ''],
  ['write', { budget: 79 }, ''],
  ['exec', { budget: 79 }, ''],
  ['spend', { budget: 79 }, 'risk.validate risk.escalate'],
  ['message', { budget: 79 }, ''],
  ['read', { budget: 80 }, 'budget.cheaper'],
  ['write', { budget: 80 }, 'budget.cheaper'],
  ['exec', { budget: 80 }, 'budget.cheaper'],
  ['spend', { budget: 80 }, 'risk.validate risk.escalate budget.cheaper budget.spend'],
  ['message', { budget: 80 }, 'budget.cheaper'],
  ['read', { budget: 94 }, 'budget.cheaper'],
  ['write', { budget: 94 }, 'budget.cheaper'],
  ['exec', { budget: 94 }, 'budget.cheaper'],
  ['spend', { budget: 94 }, 'risk.validate risk.escalate budget.cheaper budget.spend'],
  ['message', { budget: 94 }, 'budget.cheaper'],
  ['read', { budget: 95 }, 'budget.cheaper'],
  ['write', { budget: 95 }, 'budget.cheaper'],
  ['exec', { budget: 95 }, 'budget.cheaper budget.last'],
  ['spend', { budget: 95 }, 'risk.validate risk.escalate budget.cheaper budget.spend budget.last'],
  ['message', { budget: 95 }, 'budget.cheaper budget.last'],
  ['read', { novelty: 1 }, ''],
  ['network', { novelty: 1 }, ''],
  ['exec', { novelty: 1 }, ''],
  ['message', { novelty: 1 }, ''],
  ['spend', { novelty: 1 }, 'risk.validate risk.escalate'],
  ['read', { novelty: 2 }, ''],
  ['network', { novelty: 2 }, ''],
  ['exec', { novelty: 2 }, ''],
  ['message', { novelty: 2 }, ''],
  ['spend', { novelty: 2 }, 'risk.validate risk.escalate'],
  ['read', { novelty: 3 }, ''],
  ['network', { novelty: 3 }, 'novelty.many'],
  ['exec', { novelty: 3 }, 'novelty.many'],
  ['message', { novelty: 3 }, 'novelty.many'],
  ['spend', { novelty: 3 }, 'risk.validate risk.escalate'],
  ['read', { grantAge: 6 }, ''],
  ['write', { grantAge: 6 }, ''],
  ['exec', { grantAge: 6 }, ''],
  ['spend', { grantAge: 6 }, 'risk.validate risk.escalate'],
  ['message', { grantAge: 6 }, ''],
  ['read', { grantAge: 29 }, ''],
  ['write', { grantAge: 29 }, ''],
  ['exec', { grantAge: 29 }, ''],
  ['spend', { grantAge: 29 }, 'risk.validate risk.escalate'],
  ['message', { grantAge: 29 }, ''],
  ['read', { grantAge: 30 }, ''],
  ['write', { grantAge: 30 }, 'grant.old'],
  ['exec', { grantAge: 30 }, 'grant.old'],
  ['spend', { grantAge: 30 }, 'risk.validate risk.escalate grant.old'],
  ['message', { grantAge: 30 }, 'grant.old'],
  ['read', { taint: 1, derived: 1 }, ''],
  ['read', { taint: 1, novelty: 1 }, ''],
  ['read', { taint: 1, grantAge: 7 }, ''],
  ['read', { taint: 1, grantAge: 6 }, ''],
  ['read', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion'],
  ['read', { denials: 5, contradictions: 2 }, 'contradictions.opinion'],
  ['read', { budget: 95, hedging: 3 }, 'hedging.opinion budget.cheaper'],
  ['write', { taint: 1, derived: 1 }, 'taint.changing'],
  ['write', { taint: 1, novelty: 1 }, ''],
  ['write', { taint: 1, grantAge: 7 }, 'grant.tainted'],
  ['write', { taint: 1, grantAge: 6 }, ''],
  ['write', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion failures.ask failures.stop-class'],
  ['write', { denials: 5, contradictions: 2 }, 'denials.ask contradictions.opinion contradictions.validate contradictions.ask'],
  ['write', { budget: 95, hedging: 3 }, 'hedging.opinion budget.cheaper'],
  ['network', { taint: 1, derived: 1 }, 'taint.changing'],
  ['network', { taint: 1, novelty: 1 }, 'novelty.tainted'],
  ['network', { taint: 1, grantAge: 7 }, 'grant.tainted'],
  ['network', { taint: 1, grantAge: 6 }, ''],
  ['network', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion failures.ask failures.stop-class'],
  ['network', { denials: 5, contradictions: 2 }, 'denials.ask contradictions.opinion contradictions.validate contradictions.ask'],
  ['network', { budget: 95, hedging: 3 }, 'hedging.opinion budget.cheaper'],
  ['exec', { taint: 1, derived: 1 }, 'taint.acting taint.changing'],
  ['exec', { taint: 1, novelty: 1 }, 'novelty.tainted'],
  ['exec', { taint: 1, grantAge: 7 }, 'grant.tainted'],
  ['exec', { taint: 1, grantAge: 6 }, ''],
  ['exec', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion failures.ask failures.stop-class'],
  [
    'exec',
    { denials: 5, contradictions: 2 },
    'denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['exec', { budget: 95, hedging: 3 }, 'hedging.opinion hedging.ask budget.cheaper budget.last'],
  ['message', { taint: 1, derived: 1 }, 'taint.acting taint.changing'],
  ['message', { taint: 1, novelty: 1 }, 'novelty.tainted'],
  ['message', { taint: 1, grantAge: 7 }, 'grant.tainted'],
  ['message', { taint: 1, grantAge: 6 }, ''],
  ['message', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion failures.ask failures.stop-class'],
  [
    'message',
    { denials: 5, contradictions: 2 },
    'denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['message', { budget: 95, hedging: 3 }, 'hedging.opinion hedging.ask budget.cheaper budget.last'],
  ['hardware', { taint: 1, derived: 1 }, 'taint.acting taint.changing'],
  ['hardware', { taint: 1, novelty: 1 }, ''],
  ['hardware', { taint: 1, grantAge: 7 }, 'grant.tainted'],
  ['hardware', { taint: 1, grantAge: 6 }, ''],
  ['hardware', { failures: 5, classFailures: 5 }, 'failures.escalate failures.opinion failures.ask failures.stop-class'],
  [
    'hardware',
    { denials: 5, contradictions: 2 },
    'denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['hardware', { budget: 95, hedging: 3 }, 'hedging.opinion hedging.ask budget.cheaper budget.last'],
  ['spend', { taint: 1, derived: 1 }, 'risk.validate risk.escalate risk.tainted taint.acting taint.changing'],
  ['spend', { taint: 1, novelty: 1 }, 'risk.validate risk.escalate risk.tainted'],
  ['spend', { taint: 1, grantAge: 7 }, 'risk.validate risk.escalate risk.tainted grant.tainted'],
  ['spend', { taint: 1, grantAge: 6 }, 'risk.validate risk.escalate risk.tainted'],
  [
    'spend',
    { failures: 5, classFailures: 5 },
    'risk.validate risk.escalate failures.escalate failures.opinion failures.ask failures.stop-class',
  ],
  [
    'spend',
    { denials: 5, contradictions: 2 },
    'risk.validate risk.escalate denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['spend', { budget: 95, hedging: 3 }, 'risk.validate risk.escalate hedging.opinion hedging.ask budget.cheaper budget.spend budget.last'],
  ['credential', { taint: 1, derived: 1 }, 'risk.validate risk.escalate risk.tainted taint.acting taint.changing'],
  ['credential', { taint: 1, novelty: 1 }, 'risk.validate risk.escalate risk.tainted'],
  ['credential', { taint: 1, grantAge: 7 }, 'risk.validate risk.escalate risk.tainted grant.tainted'],
  ['credential', { taint: 1, grantAge: 6 }, 'risk.validate risk.escalate risk.tainted'],
  [
    'credential',
    { failures: 5, classFailures: 5 },
    'risk.validate risk.escalate failures.escalate failures.opinion failures.ask failures.stop-class',
  ],
  [
    'credential',
    { denials: 5, contradictions: 2 },
    'risk.validate risk.escalate denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['credential', { budget: 95, hedging: 3 }, 'risk.validate risk.escalate hedging.opinion hedging.ask budget.cheaper budget.last'],
  ['destructive', { taint: 1, derived: 1 }, 'risk.validate risk.escalate risk.tainted taint.acting taint.changing'],
  ['destructive', { taint: 1, novelty: 1 }, 'risk.validate risk.escalate risk.tainted'],
  ['destructive', { taint: 1, grantAge: 7 }, 'risk.validate risk.escalate risk.tainted grant.tainted'],
  ['destructive', { taint: 1, grantAge: 6 }, 'risk.validate risk.escalate risk.tainted'],
  [
    'destructive',
    { failures: 5, classFailures: 5 },
    'risk.validate risk.escalate failures.escalate failures.opinion failures.ask failures.stop-class',
  ],
  [
    'destructive',
    { denials: 5, contradictions: 2 },
    'risk.validate risk.escalate denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask',
  ],
  ['destructive', { budget: 95, hedging: 3 }, 'risk.validate risk.escalate hedging.opinion hedging.ask budget.cheaper budget.last'],
  [
    'exec',
    {
      taint: 2,
      derived: 1,
      novelty: 3,
      grantAge: 40,
      failures: 4,
      classFailures: 5,
      denials: 5,
      contradictions: 2,
      hedging: 3,
      budget: 99,
    },
    'taint.acting taint.changing failures.escalate failures.opinion failures.ask failures.stop-class denials.ask denials.stop-class contradictions.opinion contradictions.validate contradictions.ask hedging.opinion hedging.ask budget.cheaper budget.last novelty.tainted novelty.many grant.old grant.tainted',
  ],
];

const factsOf = (toolClass: ToolClass): CallFacts => ({ class: toolClass, paths: [], command: null, hosts: [] });

function signalsOf([toolClass, given]: (typeof situations)[number]): Signals {
  const none = Object.fromEntries(signalNames.map((name) => [name, 0])) as Record<SignalName, number>;
  return { ...none, ...given, risk: riskOf(factsOf(toolClass)) };
}

const fired = (situation: (typeof situations)[number], among = rules): string =>
  judge(signalsOf(situation), situation[0], among)
    .map(({ ruleId }) => ruleId)
    .join(' ');

test('there are at least 200 distinct situations', () => {
  expect(situations.length).toBeGreaterThanOrEqual(200);
  expect(new Set(situations.map(([toolClass, given]) => JSON.stringify([toolClass, given]))).size).toBe(situations.length);
});

test.each(situations.map((situation) => [situation[0], JSON.stringify(situation[1]), situation] as const))(
  '%s %s',
  (_class, _given, situation) => {
    expect(fired(situation)).toBe(situation[2]);
  },
);

test.each(rules.map(({ id }) => id))('control: without %s its situations differ', (id) => {
  const without = rules.filter((rule) => rule.id !== id);
  const named = situations.filter(([, , expected]) => expected.split(' ').includes(id));
  expect(named.length).toBeGreaterThan(0);
  for (const situation of named) expect(fired(situation, without)).not.toBe(situation[2]);
});

test('no rule fires if one of its conditions is missed by one', () => {
  for (const rule of rules) {
    for (const [signal, atLeast] of conditionsOf(rule)) {
      const just = situations.find(([, , expected]) => expected.split(' ').includes(rule.id));
      if (just === undefined) throw new Error(`${rule.id} has no situation`);
      const lower = { ...signalsOf(just), [signal]: atLeast - 1 };
      expect(judge(lower, just[0], [rule])).toEqual([]);
    }
  }
});

test('a finding names the first signal of its rule and its value', () => {
  const [toolClass, given] = ['exec', { failures: 3 }] as const;
  expect(judge(signalsOf([toolClass, given, '']), toolClass)).toMatchObject([
    { signal: 'failures', value: 3, ruleId: 'failures.escalate', directive: 'escalate' },
    { signal: 'failures', value: 3, ruleId: 'failures.opinion', directive: 'second_opinion' },
  ]);
});

test('rules have unique ids, conditions and sentences', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const rule of rules) expect([rule.why.endsWith('.'), conditionsOf(rule).length > 0]).toEqual([true, true]);
});
