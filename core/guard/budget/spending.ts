// Combines recorded spending, including that of subagents, for the budget limits.

import { systemSessionId } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { BudgetExtension } from './extensions.ts';
import type { Spent } from './sum.ts';

/** Every method must include all spending up to now. */
export interface SpendingHistory {
  spentInTurn(turnId: string): Spent;
  spentInSession(sessionId: string): Spent;
  spentSince(query: { readonly sinceMs: number }): Spent;
  /** The extensions of all turns, sessions and days. */
  extensions(): readonly BudgetExtension[];
}

interface Below {
  turnsBelow(turnId: string): readonly string[];
  sessionsBelow(sessionId: string): readonly string[];
}

/** More than a person can grant by hand. */
const EXTENSIONS_MAX = 10_000;

/** Adds the spending of subagents to their callers. */
export function spendingOf(
  alone: Omit<SpendingHistory, 'extensions'>,
  below: Below,
  { reads }: Pick<SessionLog, 'reads'>,
): SpendingHistory {
  return {
    spentInTurn: (turnId) => total([turnId, ...below.turnsBelow(turnId)].map((one) => alone.spentInTurn(one))),
    spentInSession: (sessionId) => total([sessionId, ...below.sessionsBelow(sessionId)].map((one) => alone.spentInSession(one))),
    spentSince: (query) => alone.spentSince(query),
    extensions: () =>
      reads
        .slice(systemSessionId, { types: ['budget.extended'], limit: EXTENSIONS_MAX, newest: true })
        .flatMap((event) => (event.type === 'budget.extended' ? [event.body] : [])),
  };
}

function total(sums: readonly Spent[]): Spent {
  return sums.reduce((a, b) => ({
    usd: a.usd + b.usd,
    tokens: a.tokens + b.tokens,
    unknownCostCalls: a.unknownCostCalls + b.unknownCostCalls,
  }));
}
