// The limits of one budget scope and the checks against them. Pure; money is in billionths of a dollar.

import type { BudgetLimitScope, BudgetScope, BudgetState } from '../../contracts/policy.ts';
import { toUnits, toUsd, type Sum } from './sum.ts';

/** A configured limit and the sum of a person's extensions of it. */
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

/** The estimated cost of one more call. */
export interface CallEstimate {
  /** Tokens of the request alone, a lower bound of the bill. */
  readonly inputTokens: number;
  /** US dollars for `inputTokens`; null if the price is unknown. */
  readonly inputUsd: number | null;
  /** Tokens of the request and an answer of the expected length. */
  readonly tokens: number;
  readonly usd: number | null;
  /** The request with the shortest useful answer: the minimum that one call must be allowed. */
  readonly least?: { readonly tokens: number; readonly usd: number | null };
}

/** For a call whose answer has at most `outputTokens`. `usdOf` is the price by that number; null if it is unknown. */
export function estimateOf(inputTokens: number, outputTokens: number, usdOf: (outputTokens: number) => number | null): CallEstimate {
  return { inputTokens, inputUsd: usdOf(0), tokens: inputTokens + outputTokens, usd: usdOf(outputTokens) };
}

/** The budget for one call under the narrowest limit; null if there is no limit. */
export interface Room {
  readonly usd: number | null;
  readonly tokens: number | null;
}

export interface CallLimit {
  readonly usd: number | undefined;
  readonly tokens: number | undefined;
}

/** Returns the limit per call that this call would exceed even with a short answer, or null. */
export function breachOfCall({ usd, tokens }: CallLimit, { inputTokens, inputUsd, least }: CallEstimate): BudgetBreach | null {
  const needed = least ?? { tokens: inputTokens, usd: inputUsd };
  const breach = { scope: 'call', spent: 0, unknownCost: needed.usd === null } as const;
  if (usd !== undefined && (usd === 0 || (needed.usd ?? 0) > usd)) return { ...breach, unit: 'usd', limit: usd, needed: needed.usd ?? 0 };
  if (tokens !== undefined && needed.tokens > tokens) return { ...breach, unit: 'tokens', limit: tokens, needed: needed.tokens };
  return null;
}

/** Must be called before the call itself is reserved. */
export function roomIn(call: CallLimit, limited: readonly ScopeLimits[]): Room {
  const leftUsd = limited.flatMap(({ usd, sum }) => (usd === null ? [] : [toUsd(heightOf(usd) - sum.usdUnits - sum.reservedUsdUnits)]));
  const leftTokens = limited.flatMap(({ tokens, sum }) => (tokens === null ? [] : [heightOf(tokens) - sum.tokens - sum.reservedTokens]));
  return { usd: lowest([call.usd, ...leftUsd]), tokens: lowest([call.tokens, ...leftTokens]) };
}

function lowest(amounts: readonly (number | undefined)[]): number | null {
  const known = amounts.filter((amount) => amount !== undefined);
  return known.length === 0 ? null : Math.max(0, Math.min(...known));
}

export interface BudgetBreach {
  readonly scope: BudgetLimitScope;
  readonly unit: 'usd' | 'tokens';
  readonly limit: number;
  readonly spent: number;
  /** The minimum cost of the call. Present only if this cost, rather than `spent`, exceeds the limit. */
  readonly needed?: number;
  /** True if some calls of this scope had no known price. `spent` in US dollars is then a lower bound. */
  readonly unknownCost: boolean;
}

/** Returns the limit that is reached or that the request alone would exceed, or null. A limit of 0 allows no call. */
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

/** Returns whether the call fits only if calls in flight cost less than their estimates. */
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
