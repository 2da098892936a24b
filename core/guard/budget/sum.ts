// A running sum of spending. Money is counted in whole billionths of a dollar, so that ten times 0.1 reaches a limit of 1.

export const USD_UNITS = 1e9;

export interface Sum {
  usdUnits: number;
  tokens: number;
  unknownCostCalls: number;
  /** Reserved for calls in flight. */
  reservedUsdUnits: number;
  reservedTokens: number;
  underWay: number;
}

export interface Spent {
  readonly usd: number;
  readonly tokens: number;
  readonly unknownCostCalls: number;
}

export function nothing(): Sum {
  return fromHistory({ usd: 0, tokens: 0, unknownCostCalls: 0 });
}

export function fromHistory(...past: readonly Spent[]): Sum {
  const sum: Sum = { usdUnits: 0, tokens: 0, unknownCostCalls: 0, reservedUsdUnits: 0, reservedTokens: 0, underWay: 0 };
  for (const { usd, tokens, unknownCostCalls } of past) {
    sum.usdUnits += toUnits(usd);
    sum.tokens += tokens;
    sum.unknownCostCalls += unknownCostCalls;
  }
  return sum;
}

export function addSpent(sum: Sum, costUsd: number | null, tokens: number): void {
  sum.tokens += tokens;
  if (costUsd === null) sum.unknownCostCalls += 1;
  else sum.usdUnits += toUnits(costUsd);
}

/** Reserves an amount if `direction` is 1 and releases it if -1. */
export function reserveIn(sum: Sum, amount: { readonly usd: number | null; readonly tokens: number }, direction: 1 | -1): void {
  sum.reservedUsdUnits += direction * toUnits(amount.usd ?? 0);
  sum.reservedTokens += direction * amount.tokens;
  sum.underWay += direction;
}

export function toUnits(usd: number): number {
  return Math.round(usd * USD_UNITS);
}

export function toUsd(units: number): number {
  return units / USD_UNITS;
}
