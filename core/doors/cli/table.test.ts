// The times that the command line prints are those of the person's clock.

import { afterEach, expect, test } from 'vitest';
import { when } from './table.ts';

const zone = process.env['TZ'];

afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

test.each([
  ['UTC', '2026-07-01 22:30:05'],
  ['Europe/Berlin', '2026-07-02 00:30:05'],
  ['America/New_York', '2026-07-01 18:30:05'],
])('a moment in %s', (name, shown) => {
  process.env['TZ'] = name;
  expect(when(Date.UTC(2026, 6, 1, 22, 30, 5))).toBe(shown);
  expect(when(null)).toBe('-');
});
