import { expect, test } from 'vitest';
import { AppError } from '../../contracts/errors.ts';
import type { ScheduleSpecInput } from '../../contracts/features/schedule.ts';
import { DueTimes } from './due-times.ts';

const times = new DueTimes(() => 'Europe/Berlin');
const at = (text: string): number => Date.parse(text);

function next(expr: string, zone: string, after: string, max = 3): string[] {
  const found = times.between({ kind: 'cron', expr, zone }, { afterMs: at(after), untilMs: Infinity, max });
  return found.map((ms) => new Date(ms).toISOString().slice(0, 16));
}

test('a skipped local time is due right after the gap, a repeated one the first time', () => {
  expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual(['2026-03-29T01:00', '2026-03-30T00:30']);
  expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
  expect(next('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00Z', 2)).toEqual(['2026-10-03T15:30', '2026-10-04T15:15']);
  expect(next('0,30 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 3)).toEqual([
    '2026-03-29T01:00',
    '2026-03-29T01:30',
    '2026-03-30T00:00',
  ]);
});

test('a line with a step follows real time across the clock change', () => {
  expect(next('*/30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 4)).toEqual([
    '2026-10-25T00:00',
    '2026-10-25T00:30',
    '2026-10-25T01:00',
    '2026-10-25T01:30',
  ]);
  expect(next('*/30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 1)).toEqual(['2026-03-30T00:00']);
});

test('an interval is anchored, so the time of a check does not shift it', () => {
  const spec = { kind: 'every', everyMs: 420_000, anchorMs: 1_000 } as const;
  expect(times.nextAfter(spec, 0)).toBe(1_000);
  expect(times.nextAfter(spec, 1_000)).toBe(421_000);
  expect(times.nextAfter(spec, 420_999)).toBe(421_000);
  expect(times.nextAfter(spec, 10_000_000)).toBe(1_000 + 24 * 420_000);
});

test('an interval that was begun while the clock was ahead does not wait for that time', () => {
  const [nowMs, everyMs] = [at('2026-11-10T12:00:07Z'), 900_000];
  const spec = times.settle({ kind: 'every', everyMs }, nowMs);
  expect(times.nextAfter(spec, nowMs)).toBe(nowMs + everyMs);
  const setRightMs = at('2025-11-10T12:01:00Z');
  expect(times.nextAfter(spec, setRightMs)).toBeLessThanOrEqual(setRightMs + everyMs);
  const later = times.settle({ kind: 'every', everyMs, anchorMs: nowMs }, setRightMs);
  expect(times.nextAfter(later, setRightMs)).toBe(nowMs);
});

test('a local moment is resolved with its zone, even if it does not exist', () => {
  const now = at('2026-01-01T00:00Z');
  expect(times.settle({ kind: 'at', local: '2026-03-29T02:30' }, now)).toEqual({
    kind: 'at',
    atMs: at('2026-03-29T01:00Z'),
    local: '2026-03-29T02:30',
    zone: 'Europe/Berlin',
  });
  expect(times.settle({ kind: 'at', local: '2026-10-25T02:30', zone: 'Europe/Berlin' }, now)).toMatchObject({
    atMs: at('2026-10-25T00:30Z'),
  });
  expect(times.settle({ kind: 'at', local: '2026-10-25T02:30', zone: 'europe/berlin' }, now)).toMatchObject({ zone: 'Europe/Berlin' });
  expect(times.settle({ kind: 'at', local: '2026-01-31T23:59', zone: 'Pacific/Kiritimati' }, now)).toMatchObject({
    atMs: at('2026-01-31T09:59Z'),
  });
});

test.each<[string, ScheduleSpecInput]>([
  ['the past', { kind: 'at', atMs: 5 }],
  ['no such day', { kind: 'at', local: '2026-02-30T10:00' }],
  ['six parts', { kind: 'cron', expr: '* * * * * *' }],
  ['a minute that is none', { kind: 'cron', expr: '61 * * * *' }],
  ['a day that never comes', { kind: 'cron', expr: '0 0 31 2 *' }],
])('%s is refused as invalid', (_what, input) => {
  expect(() => times.settle(input, at('2026-01-01T00:00Z'))).toThrow(AppError);
});

test.each([
  ['bad', '"bad" is not a time.'],
  ['* * * * * *', '"* * * * * *" is not a time.'],
  ['61 * * * *', '"61 * * * *" is not a time: Invalid value for minute: 61.'],
  ['MON * * * *', '"MON * * * *" is not a time: configuration entry 1 (MON) contains illegal characters.'],
])('the refusal of the cron line %j is one sentence', (expr, message) => {
  expect(() => times.settle({ kind: 'cron', expr }, at('2026-01-01T00:00Z'))).toThrow(expect.objectContaining({ message }));
});
