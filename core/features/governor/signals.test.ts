// The risk of a call, the hedging in an answer, and the cost of one evaluation.

import { expect, test } from 'vitest';
import type { CallFacts } from '../../contracts/tools.ts';
import { assessCall } from './assess.ts';
import { countHedges, follow, riskOf } from './signals.ts';

const factsOf = (toolClass: CallFacts['class']): CallFacts => ({ class: toolClass, paths: [], command: null, hosts: [] });

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
  // The CPU time of this thread, so that other load on the machine does not count.
  const measure = (): number => {
    const before = process.threadCpuUsage();
    for (let round = 0; round < 500; round++) assessCall(turn, call, { mode: 'on' });
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 500;
  };
  measure();
  expect(Math.min(...Array.from({ length: 10 }, measure))).toBeLessThanOrEqual(50);
});
