// The times that the command line prints are in local time.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { when } from './table.ts';

const atMs = Date.UTC(2026, 6, 1, 22, 30, 5);
/** Runs in a process that starts in the time zone, because a worker that runs many tests may have cached its own zone before. */
const script = `console.log((await import(${JSON.stringify(new URL('table.ts', import.meta.url).href)})).when(${atMs}))`;

test.each([
  ['UTC', '2026-07-01 22:30:05'],
  ['Europe/Berlin', '2026-07-02 00:30:05'],
  ['America/New_York', '2026-07-01 18:30:05'],
])('prints a time in %s', (zone, shown) => {
  const env = { ...process.env, TZ: zone };
  expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' })).toBe(`${shown}\n`);
});

test('prints a dash for no time', () => {
  expect(when(null)).toBe('-');
});
