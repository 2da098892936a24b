// The used share of each limit, in the order turn, session, day, and the limit that is reached first. Pure.

import type { BudgetState } from '../../core/contracts/policy.ts';

export interface BudgetShare extends BudgetState {
  readonly limit: number;
  /** From 0 to 1, including amounts reserved for running calls. */
  readonly share: number;
}

const order = { turn: 0, session: 1, day: 2 } as const;

/** Only budgets with a limit. A limit of 0 counts as used up. */
export function sharesOf(budgets: readonly BudgetState[]): BudgetShare[] {
  return budgets
    .flatMap((state) => {
      if (state.limit === null) return [];
      const share = state.limit === 0 ? 1 : Math.min(1, (state.spent + state.reserved) / state.limit);
      return [{ ...state, limit: state.limit, share }];
    })
    .sort((a, b) => order[a.scope] - order[b.scope] || (a.unit === b.unit ? 0 : a.unit === 'usd' ? -1 : 1));
}

/** The limit that is reached next; null if there is none. */
export function nearest(shares: readonly BudgetShare[]): BudgetShare | null {
  return shares.reduce<BudgetShare | null>((first, one) => (first === null || one.share > first.share ? one : first), null);
}
