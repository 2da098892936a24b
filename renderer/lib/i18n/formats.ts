// Formats sizes, times and money for a locale, always with units. Pure.

import { timeGroup } from '../format.ts';
import type { Words } from './words.ts';

export class Formats {
  readonly #words: Words['common'];
  readonly #whole: Intl.NumberFormat;
  readonly #one: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #upToOne: Intl.NumberFormat;
  readonly #money: Intl.NumberFormat;
  readonly #smallMoney: Intl.NumberFormat;
  readonly #clock: Intl.DateTimeFormat;
  readonly #moment: Intl.DateTimeFormat;
  readonly #instant: Intl.DateTimeFormat;
  readonly #weekday: Intl.DateTimeFormat;
  readonly #date: Intl.DateTimeFormat;
  readonly #day: Intl.DateTimeFormat;
  readonly #occasion: Intl.DateTimeFormat;

  constructor(locale: string, words: Words['common']) {
    this.#words = words;
    this.#whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
    this.#one = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
    this.#percent = new Intl.NumberFormat(locale, { style: 'percent' });
    this.#upToOne = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    this.#money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' });
    this.#smallMoney = new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      minimumFractionDigits: 4,
      maximumFractionDigits: 4,
    });
    this.#clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
    const moment = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
    this.#moment = new Intl.DateTimeFormat(locale, moment);
    this.#instant = new Intl.DateTimeFormat(locale, { ...moment, second: '2-digit' });
    this.#weekday = new Intl.DateTimeFormat(locale, { weekday: 'short' });
    this.#date = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', year: 'numeric' });
    this.#day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' });
    this.#occasion = new Intl.DateTimeFormat(locale, {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
  }

  /** Grouped digits, with at most one decimal. */
  number(value: number): string {
    return this.#upToOne.format(value);
  }

  /** A share of 1 as whole percent. */
  percent(share: number): string {
    return this.#percent.format(share);
  }

  duration(ms: number): string {
    if (ms < 1) return '< 1 ms';
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 10_000) return `${this.#one.format(ms / 1000)} s`;
    if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
    const minutes = Math.floor(ms / 60_000);
    if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  /** Time since a start; it is never negative. */
  offset(ms: number): string {
    return ms < 1 ? '0 ms' : `+${this.duration(ms)}`;
  }

  size(bytes: number): string {
    if (bytes < 1000) return `${bytes} B`;
    if (bytes < 1_000_000) return `${(bytes < 10_000 ? this.#one : this.#whole).format(bytes / 1000)} kB`;
    return `${this.#one.format(bytes / 1_000_000)} MB`;
  }

  tokens(tokens: number): string {
    if (tokens < 1000) return this.#words.tokens(tokens, this.#whole.format(tokens));
    return this.#words.tokens(tokens, `${(tokens < 100_000 ? this.#one : this.#whole).format(tokens / 1000)}k`);
  }

  /** Null means an unknown price, and the text says so. */
  usd(usd: number | null): string {
    if (usd === null) return this.#words.costUnknown;
    if (usd === 0) return this.#words.costNothing;
    return usd < 0.01 ? this.#smallMoney.format(usd) : this.#money.format(usd);
  }

  /** To a hundredth of a cent, for comparing similar amounts. */
  usdExact(usd: number): string {
    return this.#smallMoney.format(usd);
  }

  /** A time of day for today, a weekday for this week, else a date. */
  when(atMs: number, nowMs: number): string {
    const group = timeGroup(atMs, nowMs);
    if (group === 'Today') return this.clock(atMs);
    return (group === 'This week' ? this.#weekday : this.#date).format(atMs);
  }

  clock(atMs: number): string {
    return this.#clock.format(atMs);
  }

  moment(atMs: number): string {
    return this.#moment.format(atMs);
  }

  /** With seconds, for comparing it with a log. */
  instant(atMs: number): string {
    return this.#instant.format(atMs);
  }

  /** A recurring time: its weekday, day and time. */
  occasion(atMs: number): string {
    return this.#occasion.format(atMs);
  }

  /** A day with its year. */
  date(atMs: number): string {
    return this.#date.format(atMs);
  }

  /** A day on a chart's axis: day and month. */
  day(atMs: number): string {
    return this.#day.format(atMs);
  }
}
