// Views of budgets, and the purpose of an amount.

import { AppError } from '../../../contracts/errors.ts';
import type { OpParams } from '../../../contracts/ops.ts';
import type { BudgetState } from '../../../contracts/policy.ts';
import { parseAmount, showAmount } from '../budget.ts';
import type { Given } from '../kernel/entries.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table } from '../table.ts';

export const budgetViews: ViewsOf<'budget'> = {
  'budget.get': { json: ({ budgets }) => budgets, show: ({ budgets }) => describe(budgets) },
  'budget.allow': {
    params: (place, { given }) => allowance(place, given),
    json: ({ budgets }) => budgets,
    show: ({ budgets }) => describe(budgets),
  },
};

function allowance({ turnId, sessionId }: Partial<OpParams<'budget.allow'>>, { amount, tokens, day }: Given): OpParams<'budget.allow'> {
  if ([turnId, sessionId, day].filter((one) => one !== undefined).length > 1)
    throw new AppError('invalid_params', 'Name one of --turn, --session and --day.');
  const unit = tokens === true ? 'tokens' : 'usd';
  const much = { [unit]: parseAmount(String(amount), unit) };
  if (turnId !== undefined) return { scope: 'turn', turnId, ...much };
  return sessionId === undefined ? { scope: 'day', ...much } : { scope: 'session', sessionId, ...much };
}

function describe(budgets: readonly BudgetState[]): string {
  const rows = budgets.map(({ scope, unit, limit, configured, spent, reserved, unknownCost }) => [
    scope,
    limit === null ? 'no limit' : showAmount(limit, unit),
    `${showAmount(spent, unit)}${unit === 'usd' && unknownCost ? ' at least' : ''}`,
    limit === null ? '-' : showAmount(Math.max(0, limit - spent - reserved), unit),
    limit === null || configured === null || limit === configured ? '-' : showAmount(limit - configured, unit),
  ]);
  return table(['', 'LIMIT', 'SPENT', 'LEFT', 'ALLOWED ON TOP'], rows, 'Nothing to show.');
}
