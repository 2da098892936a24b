import { expect, test } from 'vitest';
import { graceMs, madeUpMax, planDue, type DueSituation } from './plan-due.ts';

const nowMs = 100 * graceMs;
const late = (count: number): number[] => Array.from({ length: count }, (_, index) => nowMs - graceMs * (count - index + 1));
const plan = (given: Partial<DueSituation>) =>
  planDue({ dues: [nowMs - 5], nowMs, missed: 'once', isOpen: false, panicEngaged: false, ...given }).map((step) =>
    step.kind === 'run' ? ['run', step.dueMs] : [step.disposition, ...step.dues],
  );

test('a due time that is on time runs under every policy', () => {
  for (const missed of ['skip', 'once', 'all'] as const) expect(plan({ missed })).toEqual([['run', nowMs - 5]]);
  expect(plan({ dues: [] })).toEqual([]);
});

test('missed times are skipped, made up for once, or made up for one by one', () => {
  const dues = late(3);
  expect(plan({ dues, missed: 'skip' })).toEqual([['missed', ...dues]]);
  expect(plan({ dues, missed: 'once' })).toEqual([
    ['missed', ...dues.slice(0, 2)],
    ['run', dues[2]],
  ]);
  expect(plan({ dues, missed: 'all' })).toEqual([['run', dues[0]]]);
  const many = late(madeUpMax + 2);
  expect(plan({ dues: many, missed: 'all' })).toEqual([
    ['missed', ...many.slice(0, 2)],
    ['run', many[2]],
  ]);
});

test('nothing starts while the last turn is open', () => {
  expect(plan({ isOpen: true })).toEqual([['overlap', nowMs - 5]]);
  expect(plan({ isOpen: true, missed: 'all' })).toEqual([]);
});

test('under the panic stop every due time is recorded and nothing runs', () => {
  for (const missed of ['skip', 'once', 'all'] as const) expect(plan({ missed, panicEngaged: true })).toEqual([['panic', nowMs - 5]]);
});
