// What a person may be offered to allow when a budget ended a turn, from the data of its error. Pure.

import type { ErrorBody } from '../../core/contracts/errors.ts';
import type { BudgetScope, BudgetUnit } from '../../core/contracts/policy.ts';
import { formatTokens, formatUsd } from './format.ts';

export interface BudgetOffer {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  /** Smallest first. */
  readonly choices: readonly { readonly amount: number; readonly short: string; readonly whole: string }[];
}

const multiples = [1, 2, 5];
const scopeWords: Readonly<Record<BudgetScope, string>> = { turn: 'this task', session: 'this session', day: 'today' };

/** Null where the error does not say which limit was reached. */
export function budgetOffer(error: ErrorBody | null): BudgetOffer | null {
  const { scope, unit, suggested } = error?.data ?? {};
  if (!isScope(scope) || (unit !== 'usd' && unit !== 'tokens') || typeof suggested !== 'number') return null;
  const show = unit === 'usd' ? formatUsd : formatTokens;
  const choices = multiples.map((multiple) => {
    const amount = Number((suggested * multiple).toPrecision(12));
    return { amount, short: show(amount), whole: `Allow ${show(amount)} more for ${scopeWords[scope]} and go on` };
  });
  return { scope, unit, choices };
}

function isScope(value: unknown): value is BudgetScope {
  return value === 'turn' || value === 'session' || value === 'day';
}
