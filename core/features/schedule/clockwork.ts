// Checks the clock at least once a minute, settles due and missed times, and wakes other alarms. Owns the only timer: due-times.ts computes
// what is due, plan-due.ts decides what happens, and the port starts turns.

import { isAppError } from '../../contracts/errors.ts';
import type { FiredDisposition, ScheduleFired } from '../../contracts/features/schedule.ts';
import type { Spine } from '../feature.ts';
import type { DueTimes } from './due-times.ts';
import { madeUpMax, planDue, type DueStep } from './plan-due.ts';
import type { KeptSchedule, ScheduleBook } from './rows.ts';

/** A timed job outside the schedules. */
export interface Alarm {
  /** The moment at which it must be woken, or null for never. */
  nextMs(): number | null;
  wake(nowMs: number): void;
}

export interface ClockworkDeps extends Pick<Spine, 'clock' | 'logger' | 'later'> {
  readonly book: ScheduleBook;
  readonly dueTimes: DueTimes;
  readonly panic: { readonly engaged: boolean };
  readonly alarms: readonly Alarm[];
  isOpen(turnId: string): boolean;
  /**
   * Starts the turn of a due time. Its message, its turn and this entry are stored in one transaction. Fails with the errors of sending a
   * message.
   */
  fire(kept: KeptSchedule, entry: ScheduleFired): void;
  /** Records the outcome of due times that start nothing. */
  record(entries: readonly ScheduleFired[]): void;
  rewind(fromMs: number, toMs: number): void;
}

/** The maximum time between checks, because timers do not notice that the machine slept or the clock was set. */
const LOOK_MS = 60_000;
/** The maximum number of due times of one schedule that one check settles. The next check follows at once. */
const CHUNK = 200;
/** A clock that is behind by more than this was set back. A smaller difference resolves without a change. */
export const rewindMs = 60_000;
const JUMP_MS = 90_000;

const reasons: Readonly<Partial<Record<FiredDisposition, string>>> = {
  missed: 'Nothing could run then.',
  overlap: 'Its last turn had not ended.',
  panic: 'Everything was stopped by the panic stop.',
};

export class Clockwork {
  readonly #deps: ClockworkDeps;
  /** The last due time of a schedule that had run before the clock was set back. */
  readonly #passed = new Map<string, number>();
  /** The cached next due time of a schedule, with the inputs of its computation as key. */
  readonly #next = new Map<string, { readonly key: string; readonly dueMs: number | null }>();
  #stopTimer: (() => void) | null = null;
  #last: { readonly nowMs: number; readonly monotonicMs: number } | null = null;
  #jump: { readonly atMs: number; readonly byMs: number } | null = null;
  #isDisposed = false;

  constructor(deps: ClockworkDeps) {
    this.#deps = deps;
  }

  get clockJump(): { readonly atMs: number; readonly byMs: number } | null {
    return this.#jump;
  }

  /** Checks at once, and then regularly. */
  start(): void {
    this.look();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  /** Called when a schedule changed or a turn ended. Checks soon, but not within the current call. */
  poke(): void {
    if (this.#stopTimer !== null) this.#arm(0);
  }

  /** Checks the clock once. Never throws; a failed step is retried at the next check. */
  look(): void {
    const { clock, logger } = this.#deps;
    const nowMs = clock.nowMs();
    let hasMore = false;
    try {
      this.#noticeJump(nowMs);
      this.#noticeSetBack(nowMs);
      const work = this.#deps.book.all().flatMap((kept) => this.#plan(kept, nowMs));
      hasMore = work.some((one) => one.hasMore);
      // Performs the steps of all schedules in the order of their times.
      for (const { kept, step } of work.flatMap(stepsOf).sort(byTime)) this.#perform(kept, step);
      for (const alarm of this.#deps.alarms) alarm.wake(nowMs);
    } catch (cause) {
      logger.log('error', 'schedules could not be checked', { cause: String(cause) });
    }
    this.#arm(hasMore ? 0 : this.#restMs(nowMs));
  }

  #arm(ms: number): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#isDisposed ? null : this.#deps.later(ms, () => this.look());
  }

  #restMs(nowMs: number): number {
    const { alarms, book, logger } = this.#deps;
    try {
      const next = [...book.all().map((kept) => this.#nextOf(kept)), ...alarms.map((alarm) => alarm.nextMs())];
      // A due time that is still unsettled waits for a turn, or has failed. Ignoring it here avoids a busy loop.
      return next.reduce<number>((rest, ms) => (ms !== null && ms > nowMs ? Math.min(rest, ms - nowMs) : rest), LOOK_MS);
    } catch (cause) {
      logger.log('error', 'the next due time could not be found', { cause: String(cause) });
      return LOOK_MS;
    }
  }

  /** The next due time of a schedule, or null. Cached, so that this is cheap for any number of schedules. */
  #nextOf(kept: KeptSchedule): number | null {
    if (!kept.schedule.enabled) return null;
    const { scheduleId, spec } = kept.schedule;
    const afterMs = this.#settledTo(kept);
    const key = `${afterMs} ${JSON.stringify(spec)}`;
    const known = this.#next.get(scheduleId);
    if (known?.key === key) return known.dueMs;
    const dueMs = this.#deps.dueTimes.nextAfter(spec, afterMs);
    if (this.#next.size > 2_000) this.#next.clear();
    this.#next.set(scheduleId, { key, dueMs });
    return dueMs;
  }

  #settledTo({ schedule, doneMs }: KeptSchedule): number {
    return Math.max(doneMs, this.#passed.get(schedule.scheduleId) ?? 0);
  }

  #plan(kept: KeptSchedule, nowMs: number): { kept: KeptSchedule; steps: readonly DueStep[]; hasMore: boolean }[] {
    const first = this.#nextOf(kept);
    if (first === null || first > nowMs) return [];
    const { book, dueTimes, panic } = this.#deps;
    const { scheduleId, spec, missed } = kept.schedule;
    const max = CHUNK + madeUpMax;
    const all = dueTimes.between(spec, { afterMs: this.#settledTo(kept), untilMs: nowMs, max });
    const dues = all.filter((dueMs) => !book.hasRun(scheduleId, dueMs));
    const isOpen = kept.lastTurnId !== null && this.#deps.isOpen(kept.lastTurnId);
    if (dues.length < all.length) this.#passOver(scheduleId, all, dues);
    if (all.length < max) return [{ kept, steps: planDue({ dues, nowMs, missed, isOpen, panicEngaged: panic.engaged }), hasMore: false }];
    // After a long pause, all but the last due times count as missed in any case.
    const over = dues.slice(0, Math.max(0, dues.length - madeUpMax));
    const disposition = panic.engaged ? 'panic' : 'missed';
    return [{ kept, steps: over.length === 0 ? [] : [{ kind: 'record', disposition, dues: over }], hasMore: true }];
  }

  /** Settles times that ran before the clock was set back, so that they are not checked repeatedly. */
  #passOver(scheduleId: string, all: readonly number[], left: readonly number[]): void {
    const firstLeft = left[0] ?? Number.POSITIVE_INFINITY;
    const passed = all.filter((dueMs) => dueMs < firstLeft).at(-1);
    if (passed !== undefined) this.#passed.set(scheduleId, passed);
  }

  #perform(kept: KeptSchedule, step: DueStep): void {
    const { scheduleId } = kept.schedule;
    if (step.kind === 'record') {
      this.#deps.record([span(scheduleId, step.disposition, step.dues)]);
      return;
    }
    const entry = { scheduleId, dueMs: step.dueMs, disposition: 'run' } as const;
    try {
      this.#deps.fire(kept, entry);
    } catch (cause) {
      if (!isAppError(cause) || cause.code === 'shutting_down' || cause.code.startsWith('store_')) throw cause;
      this.#deps.record([{ ...entry, disposition: 'refused', reason: cause.message }]);
    }
  }

  /** Compares the wall clock with the monotonic clock, to notice that the machine slept or the clock was set. */
  #noticeJump(nowMs: number): void {
    const monotonicMs = this.#deps.clock.monotonicMs();
    const last = this.#last;
    this.#last = { nowMs, monotonicMs };
    if (last === null) return;
    const byMs = Math.round(nowMs - last.nowMs - (monotonicMs - last.monotonicMs));
    if (Math.abs(byMs) < JUMP_MS) return;
    this.#jump = { atMs: nowMs, byMs };
    this.#deps.logger.log('info', 'the clock jumped', { byMs });
  }

  #noticeSetBack(nowMs: number): void {
    const furthest = this.#deps.book.furthestMs();
    if (furthest !== null && furthest - nowMs > rewindMs) {
      this.#passed.clear();
      this.#deps.rewind(furthest, nowMs);
    }
  }
}

function stepsOf({ kept, steps }: { kept: KeptSchedule; steps: readonly DueStep[] }) {
  return steps.map((step) => ({ kept, step }));
}

function byTime(a: { step: DueStep }, b: { step: DueStep }): number {
  return timeOf(a.step) - timeOf(b.step);
}

function timeOf(step: DueStep): number {
  return step.kind === 'run' ? step.dueMs : (step.dues[0] ?? 0);
}

/** Describes a range of due times in one entry. */
function span(scheduleId: string, disposition: Exclude<FiredDisposition, 'run'>, dues: readonly number[]): ScheduleFired {
  const [first = 0] = dues;
  const reason = reasons[disposition];
  const many = dues.length === 1 ? {} : { untilMs: dues.at(-1) ?? first, count: dues.length };
  return { scheduleId, dueMs: first, disposition, ...many, ...(reason === undefined ? {} : { reason }) };
}
