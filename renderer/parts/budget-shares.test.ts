import { expect, test } from 'vitest';
import type { BudgetState } from '../../core/contracts/policy.ts';
import { nearest, sharesOf } from './budget-shares.ts';

const state = (scope: BudgetState['scope'], limit: number | null, spent: number, unit: BudgetState['unit'] = 'usd'): BudgetState => ({
  scope,
  unit,
  limit,
  configured: limit,
  spent,
  reserved: 0,
  unknownCost: false,
});

test('limits are in order, each with its share, and the next to be reached is known', () => {
  const shares = sharesOf([
    state('day', 10, 5),
    state('day', 1000, 900, 'tokens'),
    state('session', null, 3),
    { ...state('turn', 2, 1), reserved: 0.5 },
  ]);
  expect(shares.map(({ scope, unit, share }) => [scope, unit, share])).toEqual([
    ['turn', 'usd', 0.75],
    ['day', 'usd', 0.5],
    ['day', 'tokens', 0.9],
  ]);
  expect(nearest(shares)).toMatchObject({ scope: 'day', unit: 'tokens' });
  expect(nearest([])).toBeNull();
  expect(sharesOf([state('day', 0, 0), state('turn', 1, 7)]).map(({ share }) => share)).toEqual([1, 1]);
});
