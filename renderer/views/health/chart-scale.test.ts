import { expect, test } from 'vitest';
import { axisTicks, dayStartMs, everyDay, heightOf, partsOf, totalOf, type UsageRow } from './chart-scale.ts';

const row: UsageRow = {
  key: '2026-03-01',
  turns: 2,
  modelCalls: 3,
  inputTokens: 100,
  outputTokens: 40,
  cachedInputTokens: 60,
  costUsd: 0.5,
  unknownCostCalls: 1,
  tookMs: { p50: 900, p95: 2000 },
  firstTokenMs: { p50: 300, p95: 700 },
};

test('an axis has round values and reaches the highest', () => {
  expect(axisTicks(0)).toEqual([0, 1]);
  expect(axisTicks(7)).toEqual([0, 2, 4, 6, 8]);
  expect(axisTicks(100)).toEqual([0, 25, 50, 75, 100]);
  expect(axisTicks(0.0003)).toEqual([0, 0.0001, 0.0002, 0.0003]);
  for (let max = 0.01; max < 1e7; max *= 1.7) {
    const ticks = axisTicks(max);
    expect(ticks.length).toBeLessThanOrEqual(5);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(max * (1 - 1e-9));
  }
});

test('every day has its place, across the change of a month', () => {
  const days = everyDay([row], 3, new Date(2026, 2, 2, 12).getTime());
  expect(days.map(({ key, modelCalls }) => [key, modelCalls])).toEqual([
    ['2026-02-28', 0],
    ['2026-03-01', 3],
    ['2026-03-02', 0],
  ]);
  expect(dayStartMs('2026-03-01')).toBe(new Date(2026, 2, 1).getTime());
});

test('parts and heights by measure, and the sum of all', () => {
  expect([partsOf(row, 'tokens'), partsOf(row, 'cost'), partsOf(row, 'latency')]).toEqual([[40, 60, 40], [0.5], [300, 600]]);
  expect([heightOf(row, 'tokens'), heightOf(row, 'latency')]).toEqual([140, 2000]);
  expect(partsOf({ ...row, tookMs: null, firstTokenMs: null, costUsd: null }, 'latency')).toEqual([0, 0]);
  expect(totalOf([row, { ...row, costUsd: null }])).toEqual({ tokens: 280, costUsd: 0.5, calls: 6, turns: 4, unknown: 2 });
  expect(totalOf([{ ...row, costUsd: null }]).costUsd).toBeNull();
});
