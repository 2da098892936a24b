// A running sum of spending. Money is counted in whole billionths of a dollar: ten times 0.1 must reach a limit of 1.

export const USD_UNITS = 1e9;

export interface Sum {
  usdUnits: number;
  tokens: number;
  unknownCostCalls: number;
}

export function nothing(): Sum {
  return { usdUnits: 0, tokens: 0, unknownCostCalls: 0 };
}

export function fromHistory(past: { readonly usd: number; readonly tokens: number; readonly unknownCostCalls: number }): Sum {
  return { usdUnits: Math.round(past.usd * USD_UNITS), tokens: past.tokens, unknownCostCalls: past.unknownCostCalls };
}

export function addSpent(sum: Sum, costUsd: number | null, tokens: number): void {
  sum.tokens += tokens;
  if (costUsd === null) sum.unknownCostCalls += 1;
  else sum.usdUnits += Math.round(costUsd * USD_UNITS);
}

export function toUsd(sum: Sum): number {
  return sum.usdUnits / USD_UNITS;
}
