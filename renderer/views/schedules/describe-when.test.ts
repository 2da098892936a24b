// Describes when a schedule is due.

import { expect, test } from 'vitest';
import { english } from '../../lib/i18n/english/whole.ts';
import { Formats } from '../../lib/i18n/formats.ts';
import { describeCron, describeWhen } from './describe-when.ts';

const words = english.schedules.when;

test.each([
  ['0 8 * * 1-5', 'every weekday at 08:00'],
  ['30 7 * * *', 'every day at 07:30'],
  ['0 9 * * 1,4', 'on Mondays and Thursdays at 09:00'],
  ['0 9 * * sun', 'on Sundays at 09:00'],
  ['15 * * * *', 'every hour at :15'],
  ['*/20 * * * *', 'every 20 minutes'],
  ['0 6 1 * *', 'on day 1 of each month at 06:00'],
])('%s has a name', (expr, name) => {
  expect(describeCron(expr, words)).toBe(name);
});

test.each(['0 8 13 * 5', '0 8 * 3 *', '5,35 8-17 * * *', '0 0 8 * * *', 'every morning', '0 8 L * *'])('%s has none', (expr) => {
  expect(describeCron(expr, words)).toBeNull();
});

test('zones have place names, spans whole units; an unnamed rule is shown as written', () => {
  const format = new Formats('en-GB', english.common);
  const told = [
    { kind: 'cron', expr: '0 8 * * 1-5', zone: 'America/New_York' },
    { kind: 'cron', expr: '5,35 8-17 * * *', zone: 'Europe/Berlin' },
    { kind: 'every', everyMs: 5_400_000, anchorMs: 0 },
    { kind: 'every', everyMs: 86_400_000, anchorMs: 0 },
  ] as const;
  expect(told.map((spec) => describeWhen(spec, words, format))).toEqual([
    'every weekday at 08:00, New York',
    'by the cron rule 5,35 8-17 * * *, Berlin',
    'every 90 minutes',
    'every day',
  ]);
});
