// Usage figures in words, with their units. Pure.

import type { Formats } from '../../lib/i18n/formats.ts';
import type { Language } from '../../lib/i18n/language.ts';
import { dayStartMs, type Measure, type UsageRow } from './chart-scale.ts';

export function axisLabel(value: number, measure: Measure, format: Formats): string {
  if (measure === 'cost') return format.usd(value);
  if (measure === 'latency') return value === 0 ? '0' : format.duration(value);
  return value >= 1000 ? `${format.number(value / 1000)}k` : format.number(value);
}

export function latencyOf(figures: UsageRow['tookMs'], format: Formats): string {
  return figures === null ? '–' : `${format.duration(figures.p50)} / ${format.duration(figures.p95)}`;
}

/** Describes one day in a sentence: the chosen measure, and the number of calls. */
export function describeDay(row: UsageRow, measure: Measure, { words, format }: Language): string {
  const day = format.day(dayStartMs(row.key));
  const { usage } = words;
  if (row.modelCalls === 0) return usage.dayNothing(day);
  const calls = usage.calls(row.modelCalls);
  if (measure === 'cost') return usage.dayCost(day, format.usd(row.costUsd), calls, row.unknownCostCalls);
  if (measure === 'latency') return usage.dayLatency(day, latencyOf(row.firstTokenMs, format), latencyOf(row.tookMs, format), calls);
  const [input, cached, output] = [row.inputTokens, row.cachedInputTokens, row.outputTokens].map((count) => format.number(count));
  return usage.dayTokens({ day, calls, input: input ?? '', cached: cached ?? '', output: output ?? '' });
}
