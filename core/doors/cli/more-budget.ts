// Tells a person at the terminal that a budget ended a turn, and asks for more. Silence and Enter never allow anything.

import * as z from 'zod';
import type { Claw } from '../../contracts/claw.ts';
import { isAppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { AskResult } from '../../contracts/op-results.ts';
import { budgetScopeSchema, budgetUnitSchema } from '../../contracts/policy.ts';
import { parseAmount, showAmount } from './budget.ts';
import type { CommandContext } from './command-context.ts';
import type { LineReader } from './line-reader.ts';

const triesMax = 5;

const reachedSchema = z.object({ scope: budgetScopeSchema, unit: budgetUnitSchema, suggested: z.number().positive() });
type Reached = z.infer<typeof reachedSchema>;

/** The limit that ended the turn; null if it ended for another reason. */
function reachedBy(result: AskResult): Reached | null {
  const parsed = reachedSchema.safeParse(result.status === 'over_budget' ? result.error?.data : null);
  return parsed.success ? parsed.data : null;
}

/** Prints the commands that allow more and continue. */
export function sayHowToGoOn(context: CommandContext, result: AskResult): void {
  const reached = reachedBy(result);
  if (reached === null || context.output.isJson) return;
  const { scope, unit, suggested } = reached;
  const place = { turn: `--turn ${result.turnId}`, session: `--session ${result.sessionId}`, day: '--day' }[scope];
  context.output.say('To allow more and continue:');
  context.output.say(`  ${context.program} budget allow ${suggested} ${place}${unit === 'tokens' ? ' --tokens' : ''}`);
  context.output.say(`  ${context.program} turns continue ${result.turnId}`);
}

/** Asks in place. Returns true if more was allowed, so that the turn can continue. */
export async function askForMore(context: CommandContext, asked: { claw: Claw; lines: LineReader; result: AskResult }): Promise<boolean> {
  const { claw, lines, result } = asked;
  const reached = reachedBy(result);
  if (reached === null) return false;
  const amount = await promptAmount(context, lines, reached);
  if (amount === null) return false;
  const { scope, unit } = reached;
  const place = { turn: { turnId: result.turnId }, session: { sessionId: result.sessionId }, day: {} }[scope];
  const params: OpParams<'budget.allow'> = { scope, ...place, [unit]: amount };
  await claw.op('budget.allow', params);
  return true;
}

async function promptAmount(context: CommandContext, lines: LineReader, { scope, unit, suggested }: Reached): Promise<number | null> {
  const over = new AbortController();
  const stopListening = lines.onInterrupt(() => over.abort());
  const question = `Allow ${showAmount(suggested, unit)} more for this ${scope} and continue? [y]es · another amount · [n]o (Enter: no): `;
  lines.forgetTypedAhead();
  try {
    for (let tries = 0; tries < triesMax; tries++) {
      const line = await lines.ask(question, over.signal);
      const typed = line?.trim().toLowerCase() ?? '';
      if (line === null || over.signal.aborted || ['', 'n', 'no'].includes(typed)) return null;
      if (typed === 'y' || typed === 'yes') return suggested;
      const amount = amountOf(typed, unit);
      if (typeof amount === 'number') return amount;
      context.output.say(amount);
    }
    return null;
  } finally {
    stopListening();
  }
}

/** The amount, or the reason why it is invalid. */
function amountOf(typed: string, unit: Reached['unit']): number | string {
  try {
    return parseAmount(typed, unit);
  } catch (cause) {
    if (isAppError(cause)) return cause.message;
    throw cause;
  }
}
