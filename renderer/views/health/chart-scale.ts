// The data of a chart: round values for its axis, and an entry for every day, including days without events. Pure.

import type { OpResult } from '../../../core/contracts/ops.ts';

export type UsageRow = OpResult<'usage.get'>['rows'][number];
export type Measure = 'tokens' | 'cost' | 'latency';

/** Round values from 0 to at least `max`, in at most `most` steps. */
export function axisTicks(max: number, most = 4): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  const count = Math.ceil(max / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/** The local start of a day. */
export function dayStartMs(key: string): number {
  const [year = 0, month = 1, day = 1] = key.split('-').map(Number);
  return new Date(year, month - 1, day).getTime();
}

function dayKey(date: Date): string {
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}

/** One row per day, oldest first, up to the day of `nowMs`. */
export function everyDay(rows: readonly UsageRow[], days: number, nowMs: number): UsageRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  const now = new Date(nowMs);
  return Array.from({ length: days }, (_, index) => {
    const key = dayKey(new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1 - index)));
    return known.get(key) ?? { ...nothing, key };
  });
}

const nothing: UsageRow = {
  key: '',
  turns: 0,
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  costUsd: 0,
  unknownCostCalls: 0,
  tookMs: null,
  firstTokenMs: null,
};

/** The stacked parts from the bottom up; the second part of a latency is the time from the first word to the end. */
export function partsOf(row: UsageRow, measure: Measure): readonly number[] {
  switch (measure) {
    case 'tokens':
      return [row.inputTokens - row.cachedInputTokens, row.cachedInputTokens, row.outputTokens];
    case 'cost':
      return [row.costUsd ?? 0];
    case 'latency': {
      const took = row.tookMs?.p50 ?? 0;
      const first = Math.min(took, row.firstTokenMs?.p50 ?? took);
      return [first, took - first];
    }
  }
}

/** The height of a row, including its marks. */
export function heightOf(row: UsageRow, measure: Measure): number {
  const sum = partsOf(row, measure).reduce((total, part) => total + part, 0);
  return measure === 'latency' ? Math.max(sum, row.tookMs?.p95 ?? 0) : sum;
}

export function totalOf(rows: readonly UsageRow[]): {
  tokens: number;
  costUsd: number | null;
  calls: number;
  turns: number;
  unknown: number;
} {
  const costs = rows.map((row) => row.costUsd).filter((cost) => cost !== null);
  const sum = (pick: (row: UsageRow) => number): number => rows.reduce((total, row) => total + pick(row), 0);
  return {
    tokens: sum((row) => row.inputTokens + row.outputTokens),
    costUsd: costs.length > 0 || rows.length === 0 ? costs.reduce((total, cost) => total + cost, 0) : null,
    calls: sum((row) => row.modelCalls),
    turns: sum((row) => row.turns),
    unknown: sum((row) => row.unknownCostCalls),
  };
}
