// Computes due times: moments, intervals and cron lines across time zones. Reads no clock and sets no timer.
//
// Cron lines mean local time. When clocks go forward, a time that does not exist is due at the first moment after the gap. When clocks go
// back, a time that occurs twice is due the first time. Lines with a * or a step in their hours or minutes follow real time instead: they
// skip the gap and are due in both of the repeated hours.

import { Cron } from 'croner';
import { AppError } from '../../contracts/errors.ts';
import { canonicalZone } from '../../contracts/time-zone.ts';
import type { ScheduleSpec, ScheduleSpecInput } from '../../contracts/features/schedule.ts';

const LINES_KEPT = 500;
const DAY_MS = 86_400_000;

export class DueTimes {
  readonly #zone: () => string;
  readonly #lines = new Map<string, Cron>();

  /** `zone` returns the default time zone, which is that of this machine. */
  constructor(zone: () => string) {
    this.#zone = zone;
  }

  /** The zone must be one that the schema accepted. Fails with invalid_params if the cron line or moment is invalid or never reached. */
  settle(input: ScheduleSpecInput, nowMs: number): ScheduleSpec {
    const spec = this.#fix(input, nowMs);
    if (this.nextAfter(spec, nowMs) === null) {
      throw new AppError('invalid_params', 'That time is never reached.', { hint: 'Name a time that is still to come.' });
    }
    return spec;
  }

  /** The first due time after a moment, or null if there is none. */
  nextAfter(spec: ScheduleSpec, afterMs: number): number | null {
    switch (spec.kind) {
      case 'at':
        return spec.atMs > afterMs ? spec.atMs : null;
      case 'every': {
        const passed = Math.floor((afterMs - spec.anchorMs) / spec.everyMs) + 1;
        return spec.anchorMs + Math.max(0, passed) * spec.everyMs;
      }
      case 'cron':
        return this.#line(spec.expr, spec.zone).nextRun(new Date(afterMs))?.getTime() ?? null;
    }
  }

  /** The due times in (after, until], oldest first, up to `max`. */
  between(spec: ScheduleSpec, span: { readonly afterMs: number; readonly untilMs: number; readonly max: number }): number[] {
    const found: number[] = [];
    let next = this.nextAfter(spec, span.afterMs);
    while (next !== null && next <= span.untilMs && found.length < span.max) {
      found.push(next);
      next = this.nextAfter(spec, next);
    }
    return found;
  }

  #fix(input: ScheduleSpecInput, nowMs: number): ScheduleSpec {
    switch (input.kind) {
      case 'every':
        // The remainder gives the same due times, also if the clock is ahead now and set right later.
        return { kind: 'every', everyMs: input.everyMs, anchorMs: input.anchorMs ?? nowMs % input.everyMs };
      case 'cron':
        return { kind: 'cron', expr: input.expr.trim(), zone: canonicalZone(input.zone ?? this.#zone()) };
      case 'at':
        return 'atMs' in input ? { kind: 'at', atMs: input.atMs } : this.#atLocal(input.local, canonicalZone(input.zone ?? this.#zone()));
    }
  }

  #atLocal(local: string, zone: string): ScheduleSpec {
    const [year, month, day, hour, minute] = local.split(/[-T:]/).map(Number);
    const line = checked(local, () => new Cron(`0 ${minute} ${hour} ${day} ${month} * ${year}`, { ...options(zone), mode: '7-part' }));
    // Local time never differs from UTC by more than a day.
    const atMs = line.nextRun(new Date(Date.parse(`${local}:00Z`) - 2 * DAY_MS))?.getTime();
    if (atMs === undefined) throw new AppError('invalid_params', `There is no day ${local.slice(0, 10)}.`);
    return { kind: 'at', atMs, local, zone };
  }

  #line(expr: string, zone: string): Cron {
    const key = `${zone} ${expr}`;
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line = checked(expr, () => new Cron(expr, { ...options(zone), mode: '5-part' }));
    if (this.#lines.size >= LINES_KEPT) this.#lines.clear();
    this.#lines.set(key, line);
    return line;
  }
}

/** Options without a callback: Croner only computes and never sets a timer. */
function options(zone: string) {
  return { timezone: zone, fixedTimeRule: 'no-wildcard', paused: true } as const;
}

function checked(given: string, make: () => Cron): Cron {
  try {
    return make();
  } catch (cause) {
    // The library names the wrong part. Of a wrong number of parts it says something that the hint says better.
    const why = /mode|configuration format/.test(String(cause))
      ? ''
      : `: ${String(cause)
          .replace(/^.*CronPattern: /, '')
          .replace(/\.$/, '')}`;
    throw new AppError('invalid_params', `${JSON.stringify(given)} is not a time${why}.`, {
      hint: 'A cron line has five parts: minute, hour, day of month, month, day of week.',
      cause,
    });
  }
}
