// The rules over a table of situations, with each rule taken out as a control; the signals; and what an evaluation costs.

import { expect, test } from 'vitest';
import { signalNames, type SignalName } from '../../contracts/features/governor.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import { assessCall } from './assess.ts';
import { judge, rules } from './rules.ts';
import { situations } from './situations.ts';
import { countHedges, follow, riskOf, type Signals } from './signals.ts';

const factsOf = (toolClass: CallFacts['class']): CallFacts => ({ class: toolClass, paths: [], command: null, hosts: [] });

function signalsOf([toolClass, given]: (typeof situations)[number]): Signals {
  const none = Object.fromEntries(signalNames.map((name) => [name, 0])) as Record<SignalName, number>;
  return { ...none, ...given, risk: riskOf(factsOf(toolClass)) };
}

const fired = (situation: (typeof situations)[number], among = rules): string =>
  judge(signalsOf(situation), situation[0], among)
    .map(({ ruleId }) => ruleId)
    .join(' ');

test('there are at least 200 situations, no two alike', () => {
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

test('each condition of each rule is held by a situation: one less, and it does not fire', () => {
  for (const rule of rules) {
    for (const [signal, atLeast] of rule.when) {
      const just = situations.find(
        ([toolClass, given, expected]) => expected.split(' ').includes(rule.id) && signalsOf([toolClass, given, '']).risk >= 0,
      );
      if (just === undefined) throw new Error(`${rule.id} has no situation`);
      const lower = { ...signalsOf(just), [signal]: atLeast - 1 };
      expect(judge(lower, just[0], [rule])).toEqual([]);
    }
  }
});

test('a finding names the first signal of its rule, and the value it had', () => {
  const [toolClass, given] = ['exec', { failures: 3 }] as const;
  expect(judge(signalsOf([toolClass, given, '']), toolClass)).toMatchObject([
    { signal: 'failures', value: 3, ruleId: 'failures.escalate', directive: 'escalate' },
    { signal: 'failures', value: 3, ruleId: 'failures.opinion', directive: 'second_opinion' },
  ]);
});

test('rules have unique ids, conditions and sentences', () => {
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const { why, when } of rules) expect([why.endsWith('.'), when.length > 0]).toEqual([true, true]);
});

test.each<[Partial<CallFacts>, number]>([
  [{ class: 'read' }, 0],
  [{ class: 'network', request: { method: 'GET', url: 'https://a.example', reads: true } }, 20],
  [{ class: 'exec' }, 55],
  [{ class: 'exec', runsFetched: true }, 85],
  [{ class: 'exec', risks: ['It deletes.', 'It pushes.', 'It more.'] }, 65],
  [{ class: 'destructive', risks: ['a', 'b'] }, 100],
])('the risk of %j is %i', (facts, risk) => {
  expect(riskOf({ ...factsOf('read'), ...facts })).toBe(risk);
});

test.each<[string, number]>([
  ['The file has 12 lines.', 0],
  ["I'm not sure, but I think it is probably the second one.", 3],
  ['It may be empty; as far as I know nobody wrote to it.', 2],
  ['MAYBE.', 0],
])('%j hedges %i times', (text, count) => {
  expect(countHedges(text)).toBe(count);
});

test('one evaluation takes at most 50 microseconds', () => {
  const turn = follow();
  const call = {
    callId: 'call_1',
    decision: 'allow' as const,
    facts: {
      ...factsOf('exec'),
      hosts: ['a.example', 'b.example', 'c.example'],
    },
    taint: {
      session: 6,
      derived: 2,
    },
    budget: 99,
    grantAgeDays: 40,
  };
  turn.failures = 5;
  turn.contradictions = 2;
  // Time of this thread alone: what else the machine does is not the rules' doing.
  const measure = (): number => {
    const before = process.threadCpuUsage();
    for (let round = 0; round < 500; round++) assessCall(turn, call, { mode: 'on' });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 500;
  };
  measure();
  expect(Math.min(...Array.from({ length: 10 }, measure))).toBeLessThanOrEqual(50);
});
