// A month of a scheduler: a real log in a real file, a wall clock and a monotonic clock, and everything that goes wrong with clocks and
// machines. The process dies in the middle of a transaction or right after it, sleeps, and its wall clock is set in both directions.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RandomIds } from '../../../core/base/ids.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { systemSessionId, type AnyDraft } from '../../../core/contracts/events.ts';
import type { ScheduleFired, ScheduleSpecInput } from '../../../core/contracts/features/schedule.ts';
import { wholeBounds } from '../../../core/contracts/turn-bounds.ts';
import { Clockwork, DueTimes, ScheduleBook, scheduleMigrations, Schedules } from '../../../core/features/schedule/schedule.ts';
import { SignalBook, SignalHub, signalMigrations } from '../../../core/features/signals/signals.ts';
import { SessionLog, sessionMigrations } from '../../../core/store/session/session.ts';
import { Storage } from '../../../core/store/storage/storage.ts';

/** A month has thousands of durable commits, so the file is in memory; other tests cover real disks. */
const memoryDisk = existsSync('/dev/shm') ? '/dev/shm' : null;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export interface JobPlan {
  readonly spec: ScheduleSpecInput;
  readonly missed: 'skip' | 'once' | 'all';
}

export interface MonthPlan {
  readonly seed: number;
  readonly fromMs: number;
  readonly days: number;
  readonly jobs: readonly JobPlan[];
  /** Replaces a step of the scheduler, for a control that must fail. */
  readonly forgetsDedupe?: boolean;
}

export interface MonthReport {
  readonly fired: readonly (ScheduleFired & { readonly job: number })[];
  /** The latest moment that the wall clock showed; everything due until then must be accounted for. */
  readonly furthestMs: number;
  /** Periods of wall time that occurred more than once. */
  readonly again: readonly { readonly fromMs: number; readonly toMs: number }[];
  readonly messages: readonly string[];
  readonly counts: Readonly<Record<'crashes' | 'tornFirings' | 'suspends' | 'jumpsAhead' | 'jumpsBack' | 'panics', number>>;
}

/** The error that simulates the death of the process; the test itself continues. */
class Died extends Error {}

export function liveThroughMonth(plan: MonthPlan): MonthReport {
  const month = new Month(plan);
  try {
    return month.live();
  } finally {
    month.close();
  }
}

class Month {
  readonly #plan: MonthPlan;
  readonly #home = mkdtempSync(join(memoryDisk ?? tmpdir(), 'trayclaw-month-'));
  readonly #random: () => number;
  #wallMs: number;
  #steadyMs = 0;
  #timer: { readonly atSteadyMs: number; readonly work: () => void } | null = null;
  #storage!: Storage;
  #log!: SessionLog;
  #schedules!: Schedules;
  #clockwork!: Clockwork;
  #panicUntil = 0;
  /** When turns end, on the monotonic clock. Survives the process, as turns do. */
  readonly #turnEnds = new Map<string, number>();
  readonly #counts = { crashes: 0, tornFirings: 0, suspends: 0, jumpsAhead: 0, jumpsBack: 0, panics: 0 };
  readonly #again: { fromMs: number; toMs: number }[] = [];
  readonly #messages: string[] = [];
  #furthestMs: number;
  #diesIn: 'transaction' | 'accepted' | null = null;
  #turns = 0;

  constructor(plan: MonthPlan) {
    this.#plan = plan;
    this.#random = generator(plan.seed);
    this.#wallMs = plan.fromMs;
    this.#furthestMs = plan.fromMs;
  }

  close(): void {
    this.#clockwork.dispose();
    this.#storage.dispose();
    rmSync(this.#home, { recursive: true, force: true });
  }

  live(): MonthReport {
    this.#open();
    const ids = this.#plan.jobs.map(({ spec, missed }, index) => {
      const wish = { name: `job ${index}`, prompt: 'Look.', spec, missed, session: 'own' };
      return this.#schedules.create(wish, { by: 'test' }).scheduleId;
    });
    this.#guarded(() => this.#clockwork.start());
    const endMs = this.#plan.fromMs + this.#plan.days * DAY_MS;
    while (this.#wallMs < endMs) this.#step();
    this.#panicUntil = 0;
    // Waiting work gets its turn, and the last run is undisturbed.
    for (let i = 0; i < 40; i++) this.#passTime(HOUR_MS / 2, true);
    this.#clockwork.look();
    const entries = this.#log.reads.slice(systemSessionId, { types: ['schedule.fired'], limit: 1_000_000 });
    const fired = entries.flatMap((event) =>
      event.type === 'schedule.fired' ? [{ ...event.body, job: ids.indexOf(event.body.scheduleId) }] : [],
    );
    return { fired, furthestMs: this.#furthestMs, again: this.#again, messages: this.#messages, counts: this.#counts };
  }

  /** Lets time pass until the next timer; now and then an accident happens first. */
  #step(): void {
    const chance = this.#random();
    if (chance < 0.003) this.#crash(Math.floor(this.#random() * 6 * HOUR_MS));
    else if (chance < 0.004) this.#suspend(Math.floor(this.#random() * 10 * HOUR_MS));
    else if (chance < 0.0045) this.#setClock(Math.floor(this.#random() * 3 * HOUR_MS));
    else if (chance < 0.005) this.#setClock(-Math.floor(this.#random() * 3 * HOUR_MS));
    else if (chance < 0.0055) {
      this.#panicUntil = this.#steadyMs + Math.floor(this.#random() * 2 * HOUR_MS);
      this.#counts.panics += 1;
    } else if (chance < 0.02) this.#diesIn = this.#random() < 0.5 ? 'transaction' : 'accepted';
    this.#ring();
  }

  #ring(): void {
    const timer = this.#timer;
    if (timer === null) throw new Error('the clockwork set no timer');
    this.#timer = null;
    // Timers sometimes fire a little late.
    this.#pass(Math.max(0, timer.atSteadyMs - this.#steadyMs) + (this.#random() < 0.1 ? Math.floor(this.#random() * 900) : 0));
    this.#guarded(timer.work);
  }

  #passTime(ms: number, calm: boolean): void {
    const untilMs = this.#steadyMs + ms;
    if (calm) this.#diesIn = null;
    while ((this.#timer?.atSteadyMs ?? Infinity) <= untilMs) this.#ring();
  }

  #pass(ms: number): void {
    this.#wallMs += ms;
    this.#steadyMs += ms;
    this.#furthestMs = Math.max(this.#furthestMs, this.#wallMs);
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (!(cause instanceof Died)) throw cause;
    }
    if (this.#hasDied) this.#crash(Math.floor(this.#random() * 20 * MINUTE_MS));
  }

  /** The scheduler survives every failure of a check, so a simulated death is recorded here. */
  #hasDied = false;

  #crash(downMs: number): void {
    this.#counts.crashes += 1;
    this.#hasDied = false;
    this.#diesIn = null;
    this.#clockwork.dispose();
    this.#storage.dispose();
    this.#timer = null;
    this.#pass(downMs);
    this.#open();
    this.#guarded(() => this.#clockwork.start());
  }

  /** The machine sleeps: the monotonic clock stands still. */
  #suspend(ms: number): void {
    this.#counts.suspends += 1;
    this.#wallMs += ms;
    this.#furthestMs = Math.max(this.#furthestMs, this.#wallMs);
  }

  #setClock(byMs: number): void {
    if (byMs < 0) this.#again.push({ fromMs: this.#wallMs + byMs, toMs: this.#furthestMs });
    this.#counts[byMs < 0 ? 'jumpsBack' : 'jumpsAhead'] += 1;
    this.#wallMs += byMs;
    this.#furthestMs = Math.max(this.#furthestMs, this.#wallMs);
  }

  #open(): void {
    this.#storage = Storage.open({ home: this.#home, migrations: [...sessionMigrations, ...scheduleMigrations, ...signalMigrations] });
    const clock = { nowMs: () => this.#wallMs, monotonicMs: () => this.#steadyMs };
    const book = new ScheduleBook(this.#storage.db);
    const signals = new SignalBook(this.#storage.db);
    const log = new SessionLog({ storage: this.#storage, clock, logger: silentLogger, projections: [book, signals] });
    const ids = new RandomIds(() => this.#wallMs);
    const dueTimes = new DueTimes(() => 'UTC');
    this.#log = log;
    if (log.index.session(systemSessionId) === null) log.append(systemSessionId, [created('System')]);
    this.#schedules = new Schedules({
      log,
      clock,
      ids,
      book,
      dueTimes,
      defaultAgentId: 'main',
      approvalMs: 1000,
      statusOf: ({ turnId }) => (turnId === undefined ? null : (log.index.turn(turnId)?.status ?? null)),
      assertSession: () => undefined,
      assertAgent: () => undefined,
    });
    const turns = { submit: (message: Submitted) => this.#submit(log, message), appendToTurn: () => undefined };
    const limits = { runsPerHour: 0, perMinute: 1, queued: 1, textMax: 1000 };
    const hub = new SignalHub({ log, clock, ids, book: signals, limits, turns });
    const panic = { isEngaged: () => this.#steadyMs < this.#panicUntil };
    this.#clockwork = new Clockwork({
      clock,
      logger: silentLogger,
      book: this.#plan.forgetsDedupe === true ? forgetful(book) : book,
      dueTimes,
      panic: Object.defineProperty({ engaged: false }, 'engaged', { get: panic.isEngaged }),
      alarms: [],
      isOpen: (turnId) => (this.#turnEnds.get(turnId) ?? 0) > this.#steadyMs,
      fire: ({ schedule }, entry) => {
        const sessionId = `schedule-${schedule.scheduleId}`;
        const key = `${schedule.scheduleId}@${entry.dueMs}${this.#plan.forgetsDedupe === true ? `#${this.#steadyMs}` : ''}`;
        hub.receive({
          source: 'schedule',
          name: schedule.name,
          dedupeKey: key,
          text: schedule.prompt,
          data: null,
          attention: 'run',
          session: { sessionId, title: schedule.name },
          agentId: 'main',
          untrusted: [],
          bounds: wholeBounds,
          also: (turnId) => [{ type: 'schedule.fired', body: { ...entry, turnId, sessionId } }],
        });
      },
      record: (entries) => this.#schedules.record(entries),
      rewind: (fromMs, toMs) => this.#schedules.rewind(fromMs, toMs),
      later: (delayMs, work) => {
        const timer = { atSteadyMs: this.#steadyMs + delayMs, work };
        if (!this.#hasDied) this.#timer = timer;
        return () => {
          if (this.#timer === timer) this.#timer = null;
        };
      },
    });
  }

  /** Accepts a message as the turn runtime does: key, message and additional events in one transaction. */
  #submit(log: SessionLog, message: Submitted): { sessionId: string; turnId: string } {
    if (this.#hasDied) throw new Died();
    const known = log.index.findInbound(message.channel, message.dedupeKey);
    if (known !== null) return known;
    const turnId = `trn_${(this.#turns += 1)}_${this.#plan.seed}`;
    const { sessionId, text, channel, sender, dedupeKey } = message;
    log.transact(() => {
      log.index.putInbound(channel, dedupeKey, sessionId, turnId);
      log.append(sessionId, [...message.before, { type: 'user.message', turnId, body: { text, channel, sender, dedupeKey } }]);
      message.alongside(turnId);
      this.#dieIn('transaction');
    }, true);
    this.#messages.push(dedupeKey);
    this.#turnEnds.set(turnId, this.#steadyMs + Math.floor(this.#random() ** 3 * 40 * MINUTE_MS));
    this.#dieIn('accepted');
    return { sessionId, turnId };
  }

  #dieIn(place: 'transaction' | 'accepted'): void {
    if (this.#diesIn !== place) return;
    this.#diesIn = null;
    this.#hasDied = true;
    this.#counts.tornFirings += 1;
    throw new Died();
  }
}

interface Submitted {
  readonly sessionId: string;
  readonly text: string;
  readonly channel: string;
  readonly sender: string;
  readonly dedupeKey: string;
  readonly before: readonly AnyDraft[];
  alongside(turnId: string): void;
}

/** The control: a book that does not know what ran before. */
function forgetful(book: ScheduleBook): ScheduleBook {
  return new Proxy(book, {
    get: (target, name) => {
      if (name === 'hasRun') return () => false;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function created(title: string): AnyDraft {
  return { type: 'session.created', body: { title, agentId: 'system', channel: 'library', forkedFrom: null } };
}

/** Mulberry32: small, seeded, and good enough to choose accidents. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
