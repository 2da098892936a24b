// `budget`: how the limits stand, and a person's yes to more.

import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { BudgetState, BudgetUnit } from '../../contracts/policy.ts';
import type { CommandContext, Run } from './command-context.ts';
import { money, table } from './table.ts';

interface Places {
  readonly turn?: string;
  readonly session?: string;
}

interface AllowOptions extends Places {
  readonly day?: boolean;
  readonly tokens?: boolean;
}

export function registerBudget(program: Command, run: Run): void {
  const budget = program.command('budget').description('limits on money and tokens');
  budget
    .command('show')
    .description('show the limits and what is used')
    .option('--turn <id>', 'also those of this turn and its session')
    .option('--session <id>', 'also those of this session')
    .action((options: Places) => run((context) => show(context, options)));
  budget
    .command('allow')
    .description('allow more for a turn, a session or, with none named, this day')
    .argument('<amount>', 'US dollars, such as 1.50')
    .option('--tokens', 'the amount is tokens, not dollars')
    .option('--turn <id>', 'for this turn and those that take up its work')
    .option('--session <id>', 'for this session')
    .option('--day', 'until the day ends')
    .action((amount: string, options: AllowOptions) => run((context) => allow(context, amount, options)));
}

function show(context: CommandContext, { turn, session }: Places): Promise<number> {
  const params = { ...(turn === undefined ? {} : { turnId: turn }), ...(session === undefined ? {} : { sessionId: session }) };
  return context.runOp('budget.get', params, { json: ({ budgets }) => budgets, human: ({ budgets }) => describe(budgets) });
}

function allow(context: CommandContext, amount: string, options: AllowOptions): Promise<number> {
  const { turn, session, day } = options;
  const unit: BudgetUnit = options.tokens === true ? 'tokens' : 'usd';
  if ([turn, session, day].filter((one) => one !== undefined).length > 1) {
    throw new AppError('invalid_params', 'Name one of --turn, --session and --day.');
  }
  const place: Pick<OpParams<'budget.allow'>, 'scope' | 'turnId' | 'sessionId'> = turn !== undefined
    ? { scope: 'turn', turnId: turn }
    : session !== undefined
      ? { scope: 'session', sessionId: session }
      : { scope: 'day' };
  const params: OpParams<'budget.allow'> = { ...place, [unit]: parseAmount(amount, unit) };
  return context.runOp('budget.allow', params, { json: ({ budgets }) => budgets, human: ({ budgets }) => describe(budgets) });
}

/** An amount a person typed, a dollar sign allowed. Fails with `invalid_params`. */
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
  return unit === 'usd' ? money(amount) : `${amount} tokens`;
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
