import { expect, test } from 'vitest';
import { localDay, localDayStartMs } from './local-day.ts';

test('a day starts at its first instant and ends just before the next day', () => {
  const noon = new Date(2026, 2, 29, 12).getTime();
  const start = localDayStartMs(noon);
  expect(localDay(start)).toBe('2026-03-29');
  expect(localDay(start - 1)).toBe('2026-03-28');
  expect(localDay(localDayStartMs(noon, -1) - 1)).toBe('2026-03-29');
  expect(localDay(localDayStartMs(noon, 29))).toBe('2026-02-28');
});
