// The budget extension that a person may be offered when a limit ended a turn, from the data of its error. Pure.

import type { ErrorBody } from '../../core/contracts/errors.ts';
import type { BudgetScope, BudgetUnit } from '../../core/contracts/policy.ts';
import type { Wording } from './describe-note.ts';

export interface BudgetOffer {
  readonly scope: BudgetScope;
  readonly unit: BudgetUnit;
  /** Amounts, smallest first. */
  readonly choices: readonly { readonly amount: number; readonly short: string; readonly whole: string }[];
}

const multiples = [1, 2, 5];

/** Null if the error does not say which limit was reached. */
export function budgetOffer(error: ErrorBody | null, { words, format }: Wording): BudgetOffer | null {
  const { scope, unit, suggested } = error?.data ?? {};
  if (!isScope(scope) || (unit !== 'usd' && unit !== 'tokens') || typeof suggested !== 'number') return null;
  const choices = multiples.map((multiple) => {
    const amount = Number((suggested * multiple).toPrecision(12));
    const short = unit === 'usd' ? format.usd(amount) : format.tokens(amount);
    return { amount, short, whole: words.chat.ended.allowMore(short, scope) };
  });
  return { scope, unit, choices };
}

function isScope(value: unknown): value is BudgetScope {
  return value === 'turn' || value === 'session' || value === 'day';
}
