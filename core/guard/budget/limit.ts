// One scope of the budget with its limits, and the questions asked of it. Pure; amounts of money in billionths of a dollar.

import type { BudgetScope, BudgetState } from '../../contracts/policy.ts';
import { toUnits, toUsd, type Sum } from './sum.ts';

/** A limit as configured and by how much a person raised it; null where there is none. */
export interface Limit {
  readonly configured: number;
  readonly raisedBy: number;
}

export interface ScopeLimits {
  readonly scope: BudgetScope;
  readonly sum: Sum;
  readonly usd: Limit | null;
  readonly tokens: Limit | null;
}

/** What one more call comes to. */
export interface CallEstimate {
  /** The request alone: a lower bound of what is billed. */
  readonly inputTokens: number;
  /** US dollars for that, null where the price is unknown. */
  readonly inputUsd: number | null;
  /** With an answer of the length to reckon with. */
  readonly tokens: number;
  readonly usd: number | null;
}

export interface BudgetBreach {
  readonly scope: BudgetScope;
  readonly unit: 'usd' | 'tokens';
  readonly limit: number;
  readonly spent: number;
  /** What the call would come to at least; there where this and not `spent` is over the limit. */
  readonly needed?: number;
  /** Some calls of this scope had no known price: `spent` in US dollars is a lower bound. */
  readonly unknownCost: boolean;
}

/** Null, or the limit that is reached, or that the request alone would pass. A limit of 0 allows no call. */
export function breachOf({ scope, sum, usd, tokens }: ScopeLimits, estimate: CallEstimate): BudgetBreach | null {
  const unknownCost = sum.unknownCostCalls > 0;
  if (usd !== null) {
    const limit = heightOf(usd);
    const needed = toUnits(estimate.inputUsd ?? 0);
    const breach = { scope, unit: 'usd', limit: toUsd(limit), spent: toUsd(sum.usdUnits), unknownCost } as const;
    if (sum.usdUnits >= limit) return breach;
    if (sum.usdUnits + needed > limit) return { ...breach, needed: toUsd(needed) };
  }
  if (tokens !== null) {
    const limit = heightOf(tokens);
    const breach = { scope, unit: 'tokens', limit, spent: sum.tokens, unknownCost } as const;
    if (sum.tokens >= limit) return breach;
    if (sum.tokens + estimate.inputTokens > limit) return { ...breach, needed: estimate.inputTokens };
  }
  return null;
}

/** There is room for the call only once others that are under way turn out to cost less than they might. */
export function isCrowded({ sum, usd, tokens }: ScopeLimits, estimate: CallEstimate): boolean {
  if (sum.underWay === 0) return false;
  const isOver = (limit: Limit | null, amount: number): boolean => limit !== null && amount > heightOf(limit);
  return (
    isOver(usd, sum.usdUnits + sum.reservedUsdUnits + toUnits(estimate.usd ?? 0)) ||
    isOver(tokens, sum.tokens + sum.reservedTokens + estimate.tokens)
  );
}

export function heightOf(limit: Limit): number {
  return limit.configured + limit.raisedBy;
}

export function statesOf({ scope, sum, usd, tokens }: ScopeLimits): BudgetState[] {
  const unknownCost = sum.unknownCostCalls > 0;
  return [
    {
      scope,
      unit: 'usd',
      limit: usd === null ? null : toUsd(heightOf(usd)),
      configured: usd === null ? null : toUsd(usd.configured),
      spent: toUsd(sum.usdUnits),
      reserved: toUsd(sum.reservedUsdUnits),
      unknownCost,
    },
    {
      scope,
      unit: 'tokens',
      limit: tokens === null ? null : heightOf(tokens),
      configured: tokens === null ? null : tokens.configured,
      spent: sum.tokens,
      reserved: sum.reservedTokens,
      unknownCost,
    },
  ];
}
