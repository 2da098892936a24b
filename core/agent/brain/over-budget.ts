// The error of a turn that is over budget: states the limit as text, and as data the increase that a person may be offered. Pure.

import { counted } from '../../base/counted.ts';
import { formatUsd } from '../../base/format-usd.ts';
import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';

export type OverBudget = EventBodies['budget.exceeded'];

/** The `data` of the error contains scope, unit, limit, spent, and `suggested`: a sensible increase of the limit. */
export function overBudgetError(over: OverBudget): ErrorBody {
  const { scope, unit, limit, spent, needed } = over;
  const show = (amount: number): string => (unit === 'usd' ? formatUsd(amount) : counted(amount, 'token'));
  const message =
    scope === 'call'
      ? `One model call may cost ${show(limit)}; this one would cost at least ${show(needed ?? 0)}. Raise budget.perCall${unit === 'usd' ? 'Usd' : 'Tokens'}, or begin a shorter conversation.`
      : needed === undefined
        ? `The budget of this ${scope} is used up: ${show(spent)} of ${show(limit)}.`
        : `The next call would cost at least ${show(needed)}; of this ${scope}'s budget of ${show(limit)}, ${show(Math.max(0, limit - spent))} is left.`;
  return new AppError('over_budget', message, { data: { scope, unit, limit, spent, suggested: suggestedMore(over) } }).toBody();
}

/** Suggests the limit's own amount again, capped at one dollar, but never less than the next call needs. */
function suggestedMore({ unit, limit, needed = 0 }: OverBudget): number {
  if (unit === 'tokens') return Math.max(limit, roundUp(2 * needed), 1000);
  return Math.max(limit > 0 ? Math.min(limit, 1) : 1, roundUp(2 * needed));
}

/** Rounds up to one significant digit. */
function roundUp(amount: number): number {
  if (amount <= 0) return 0;
  const digit = 10 ** Math.floor(Math.log10(amount));
  return Number((Math.ceil(amount / digit) * digit).toPrecision(1));
}
