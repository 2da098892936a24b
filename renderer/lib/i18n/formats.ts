// Formats sizes, times and money for a locale, always with units. Pure.

import { timeGroup } from '../format.ts';
import type { Words } from './words.ts';

type Show = (value: number) => string;

/** Between a number and its unit, so that no line breaks there. */
const noBreak = '\u00a0';
const dollars = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' } as const;
const day = { day: 'numeric', month: 'short' } as const;
const clock = { hour: '2-digit', minute: '2-digit' } as const;

export class Formats {
  readonly #words: Words['common'];
  readonly #whole: Show;
  readonly #one: Show;
  readonly #money: Show;
  readonly #weekday: Show;
  /** Grouped digits, with at most one decimal. */
  readonly number: Show;
  /** A share of 1 as whole percent. */
  readonly percent: Show;
  readonly #exact: Show;
  readonly clock: Show;
  /** Without its year in the current year. */
  readonly moment: Show;
  /** With seconds, for comparing it with a log. */
  readonly instant: Show;
  /** A recurring time: its weekday, day and time. */
  readonly occasion: Show;
  /** A day with its year. */
  readonly date: Show;
  /** A day on a chart's axis: day and month. */
  readonly day: Show;

  /** Without a clock every moment has its year. */
  constructor(locale: string, words: Words['common'], nowMs = (): number => 0) {
    const number = (options: Intl.NumberFormatOptions): Show => showBy(() => new Intl.NumberFormat(locale, options));
    const time = (options: Intl.DateTimeFormatOptions): Show => showBy(() => new Intl.DateTimeFormat(locale, options));
    this.#words = words;
    this.#whole = number({ maximumFractionDigits: 0 });
    this.#one = number({ minimumFractionDigits: 1, maximumFractionDigits: 1 });
    this.percent = number({ style: 'percent' });
    this.number = number({ maximumFractionDigits: 1 });
    this.#money = number(dollars);
    this.#exact = number({ ...dollars, minimumFractionDigits: 4, maximumFractionDigits: 4 });
    this.clock = time(clock);
    const [thisYear, otherYear] = [time({ ...day, ...clock }), time({ ...day, year: 'numeric', ...clock })];
    this.moment = (atMs) => (yearOf(atMs) === yearOf(nowMs()) ? thisYear : otherYear)(atMs);
    this.instant = time({ ...day, year: 'numeric', ...clock, second: '2-digit' });
    this.#weekday = time({ weekday: 'short' });
    this.date = time({ ...day, year: 'numeric' });
    this.day = time(day);
    this.occasion = time({ weekday: 'short', ...day, ...clock });
  }

  /** A number with its unit, on one line. */
  amount(shown: string | number, unit: string): string {
    return `${shown}${noBreak}${unit}`;
  }

  duration(ms: number): string {
    if (ms < 1) return `<${noBreak}${this.amount(1, 'ms')}`;
    if (ms < 1000) return this.amount(Math.round(ms), 'ms');
    if (ms < 10_000) return this.amount(this.#one(ms / 1000), 's');
    if (ms < 60_000) return this.amount(Math.round(ms / 1000), 's');
    const minutes = Math.floor(ms / 60_000);
    if (minutes < 60) return `${this.amount(minutes, 'min')} ${this.amount(Math.floor((ms % 60_000) / 1000), 's')}`;
    return `${this.amount(Math.floor(minutes / 60), 'h')} ${this.amount(minutes % 60, 'min')}`;
  }

  /** Time since a start; it is never negative. */
  offset(ms: number): string {
    return ms < 1 ? this.amount(0, 'ms') : `+${this.duration(ms)}`;
  }

  size(bytes: number): string {
    if (bytes < 1000) return this.amount(bytes, 'B');
    if (bytes < 1_000_000) return this.amount((bytes < 10_000 ? this.#one : this.#whole)(bytes / 1000), 'kB');
    return this.amount(this.#one(bytes / 1_000_000), 'MB');
  }

  tokens(tokens: number): string {
    const shown = tokens < 1000 ? this.#whole(tokens) : `${(tokens < 100_000 ? this.#one : this.#whole)(tokens / 1000)}k`;
    return this.amount(shown, this.#words.tokens(tokens));
  }

  /** Null means an unknown price, and the text says so. */
  usd(usd: number | null): string {
    if (usd === null) return this.#words.costUnknown;
    return usd > 0 && usd < 0.01 ? this.usdExact(usd) : this.#money(usd);
  }

  /** To a hundredth of a cent, for comparing similar amounts. An amount that is not zero never reads as zero. */
  usdExact(usd: number): string {
    return usd > 0 && usd < 0.0001 ? `<${noBreak}${this.#exact(0.0001)}` : this.#exact(usd);
  }

  /** A time of day for today, a weekday for this week, else a date. */
  when(atMs: number, nowMs: number): string {
    const group = timeGroup(atMs, nowMs);
    if (group === 'Today') return this.clock(atMs);
    return (group === 'This week' ? this.#weekday : this.date)(atMs);
  }
}

const yearOf = (atMs: number): number => new Date(atMs).getFullYear();

/** Made when it is first used: making one takes longer than using it a hundred times, and the first paint needs few of them. */
function showBy(make: () => { format(value: number): string }): Show {
  let format: ReturnType<typeof make> | null = null;
  return (value) => (format ??= make()).format(value);
}
