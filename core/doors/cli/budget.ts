// Parses and formats amounts of money and tokens for people.

import { counted } from '../../base/counted.ts';
import { AppError } from '../../contracts/errors.ts';
import type { BudgetUnit } from '../../contracts/policy.ts';
import { money } from './table.ts';

/** Parses a typed amount, with an optional dollar sign. Fails with `invalid_params`. */
export function parseAmount(text: string, unit: BudgetUnit): number {
  const digits = /^\$?(\d{1,12}(?:\.\d{1,9})?)$/.exec(text.trim())?.[1];
  const amount = digits === undefined ? 0 : Number(digits);
  if (amount <= 0 || (unit === 'tokens' && !Number.isInteger(amount))) {
    const form = unit === 'tokens' ? 'a whole number of tokens' : 'an amount in US dollars, such as 1.50';
    throw new AppError('invalid_params', `${JSON.stringify(text)} is not ${form}.`);
  }
  return amount;
}

export function showAmount(amount: number, unit: BudgetUnit): string {
  return unit === 'usd' ? money(amount) : counted(amount, 'token');
}
