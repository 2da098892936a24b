// Describes the due times of a schedule: common cron lines by name, any other as written. Pure.

import type { ScheduleSpec } from '../../../core/contracts/features/schedule.ts';
import type { Formats } from '../../lib/i18n/formats.ts';
import type { Words } from '../../lib/i18n/words.ts';

type WhenWords = Words['schedules']['when'];

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;

export function describeWhen(spec: ScheduleSpec, words: WhenWords, format: Formats): string {
  switch (spec.kind) {
    case 'at':
      return words.once(format.occasion(spec.atMs));
    case 'every':
      return words.every(describeSpan(spec.everyMs, words));
    case 'cron':
      return words.inZone(describeCron(spec.expr, words) ?? words.rule(spec.expr), placeOf(spec.zone));
  }
}

/** The place of a zone: Berlin for Europe/Berlin. */
export function placeOf(zone: string): string {
  return (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');
}

function describeSpan(ms: number, words: WhenWords): string {
  if (ms % dayMs === 0) return words.days(ms / dayMs);
  if (ms % hourMs === 0) return words.hours(ms / hourMs);
  return words.minutes(Math.round(ms / minuteMs));
}

/** Null if there is no short name. */
export function describeCron(expr: string, words: WhenWords): string | null {
  const [, minute = '', hour = '', day = '', weekday = ''] = /^(\S+)\s+(\S+)\s+(\S+)\s+\*\s+(\S+)$/.exec(expr.trim()) ?? [];
  if (minute !== '' && hour === '*') return day === '*' && weekday === '*' ? describeHourly(minute, words) : null;
  if (!isNumber(minute) || !isNumber(hour)) return null;
  const time = `${two(hour)}:${two(minute)}`;
  if (day === '*') return describeDays(weekday, time, words);
  return isNumber(day) && weekday === '*' ? words.monthly(day, time) : null;
}

function describeHourly(minute: string, words: WhenWords): string | null {
  const step = /^\*\/(\d{1,2})$/.exec(minute)?.[1];
  if (step !== undefined) return words.every(words.minutes(Number(step)));
  return isNumber(minute) ? words.hourly(two(minute)) : null;
}

function describeDays(weekday: string, time: string, words: WhenWords): string | null {
  if (weekday === '*') return words.daily(time);
  if (weekday === '1-5' || weekday.toUpperCase() === 'MON-FRI') return words.weekdays(time);
  const names = weekday.split(',').map((one) => dayName(one, words));
  const known = names.filter((name) => name !== null);
  return known.length === names.length ? words.onDays(known, time) : null;
}

const codes = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function dayName(written: string, words: WhenWords): string | null {
  const index = isNumber(written) ? Number(written) % 7 : codes.indexOf(written.toUpperCase());
  return words.dayNames[index] ?? null;
}

function isNumber(text: string): boolean {
  return /^\d{1,2}$/.test(text);
}

function two(text: string): string {
  return text.padStart(2, '0');
}
