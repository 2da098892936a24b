// How far each limit is used up, in the order turn, session, day, and which one comes first. Pure.

import type { BudgetState } from '../../core/contracts/policy.ts';

export interface BudgetShare extends BudgetState {
  readonly limit: number;
  /** 0 to 1, with what is kept aside for calls under way. */
  readonly share: number;
}

const order = { turn: 0, session: 1, day: 2 } as const;

/** Only what has a limit. A limit of nothing is used up. */
export function sharesOf(budgets: readonly BudgetState[]): BudgetShare[] {
  return budgets
    .flatMap((state) => {
      if (state.limit === null) return [];
      const share = state.limit === 0 ? 1 : Math.min(1, (state.spent + state.reserved) / state.limit);
      return [{ ...state, limit: state.limit, share }];
    })
    .sort((a, b) => order[a.scope] - order[b.scope] || (a.unit === b.unit ? 0 : a.unit === 'usd' ? -1 : 1));
}

/** The limit that is reached next; null where there is none. */
export function nearest(shares: readonly BudgetShare[]): BudgetShare | null {
  return shares.reduce<BudgetShare | null>((first, one) => (first === null || one.share > first.share ? one : first), null);
}
