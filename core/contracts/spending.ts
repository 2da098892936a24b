// Sums of what model calls use and cost. Pure; loads no schema, because the window folds turns too.

import type { Usage } from './llm.ts';

export interface Spending {
  readonly usage: Usage;
  /** Null if a price is unknown. */
  readonly costUsd: number | null;
}

export function addSpending(one: Spending, other: Spending): Spending {
  return { usage: addUsage(one.usage, other.usage), costUsd: addCost(one.costUsd, other.costUsd) };
}

export function addUsage(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
  };
}

export function addCost(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}
