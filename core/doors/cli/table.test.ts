// The times that the command line prints are in local time, and a fact without a value is not printed.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { facts, when } from './table.ts';

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

test('a fact without a value is left out', () => {
  expect(
    facts([
      ['agent', 'main'],
      ['good at', ''],
      ['tools', 'all'],
    ]),
  ).toBe('agent  main\ntools  all');
});
