// Schedules and the task list: creates, changes and lists them. Every change is recorded as an event before it takes effect. Turns start
// only through the port of the clockwork.

import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Schedule, ScheduleFired, ScheduleSpecInput, ScheduleView, Task } from '../../contracts/features/schedule.ts';
import type { OpParsed } from '../../contracts/ops.ts';
import type { Outsider } from '../../contracts/outsider.ts';
import { jobBoundsSchema } from '../../contracts/turn-bounds.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { Spine } from '../feature.ts';
import { rewindMs } from './clockwork.ts';
import type { DueTimes } from './due-times.ts';
import type { KeptSchedule, ScheduleBook } from './rows.ts';

/** Either a prompt or, with the words of the task as the prompt, a task. */
export interface ScheduleWish extends Omit<OpParsed<'schedule.create'>, 'prompt' | 'file'> {
  readonly prompt: string;
  /** The sources of the file that the task was read from, if it is marked. */
  readonly untrusted?: readonly TaintSource[] | undefined;
}

/** The fields of an agent's schedule that its turn determines, not its request. */
export interface Origin {
  readonly by: string;
  readonly depth?: number;
  readonly untrusted?: readonly TaintSource[];
  readonly outsider?: Outsider;
  readonly scheduleId?: string;
}

export interface SchedulesDeps extends Pick<Spine, 'log' | 'clock' | 'ids'> {
  readonly book: ScheduleBook;
  readonly dueTimes: DueTimes;
  readonly defaultAgentId: string;
  readonly approvalMs: number;
  /** The state of the turn or work that a due time started. */
  readonly statusOf: (fired: ScheduleFired) => string | null;
  /** Fails with not_found if there is no such session. */
  assertSession(sessionId: string): void;
  assertAgent(agentId: string): void;
}

const SCHEDULES_MAX = 200;
const TASKS_MAX = 200;
const SHOWN_NEXT = 5;
/** More than the kept runs of a schedule. */
const LOOKED_MAX = 600;
const SHOWN_LAST = 5;
/** How long a finished schedule is kept, so that a person sees its outcome. */
const OVER_MS = 7 * 86_400_000;
/** The maximum number of due times counted when a pause ends. Beyond it, the entry says "at least". */
const PAUSE_COUNT_MAX = 1_000;

export class Schedules {
  readonly #deps: SchedulesDeps;

  constructor(deps: SchedulesDeps) {
    this.#deps = deps;
  }

  list(): ScheduleView[] {
    return this.#deps.book
      .all()
      .map((kept) => this.#view(kept, SHOWN_LAST))
      .sort((a, b) => (a.nextMs[0] ?? Infinity) - (b.nextMs[0] ?? Infinity) || a.createdAtMs - b.createdAtMs);
  }

  get(scheduleId: string, fires = SHOWN_LAST): ScheduleView {
    return this.#view(this.#find(scheduleId), fires);
  }

  /** Fails with invalid_params or queue_full, and with not_found if its session or agent does not exist. */
  create(wish: ScheduleWish, origin: Origin): ScheduleView {
    const { log, clock, ids, dueTimes, defaultAgentId, approvalMs } = this.#deps;
    const agentId = wish.agentId ?? defaultAgentId;
    this.#deps.assertAgent(agentId);
    const nowMs = clock.nowMs();
    const spec = dueTimes.settle(wish.spec, nowMs);
    const schedule: Schedule = {
      scheduleId: origin.scheduleId ?? ids.next('sch'),
      name: wish.name,
      prompt: wish.prompt,
      spec,
      agentId,
      session: this.#sessionOf(wish.session ?? 'own'),
      missed: wish.missed ?? 'once',
      bounds: wish.bounds ?? jobBoundsSchema.parse({}),
      approvalMs: wish.approvalMs ?? approvalMs,
      enabled: wish.enabled ?? true,
      createdBy: origin.by,
      createdAtMs: nowMs,
      deliver: wish.deliver ?? null,
      depth: origin.depth ?? 0,
      untrusted: [...(origin.untrusted ?? []), ...(wish.untrusted ?? [])],
      ...withoutUndefined({ outsider: origin.outsider, task: wish.task, appendTo: wish.appendTo, writeTo: wish.writeTo }),
    };
    const removals = this.#makeRoom(nowMs);
    log.append(systemSessionId, [...removals, { type: 'schedule.created', body: { schedule } }], true);
    return this.get(schedule.scheduleId);
  }

  update(scheduleId: string, wish: { readonly [K in keyof ScheduleWish]?: ScheduleWish[K] | undefined }, by: string): ScheduleView {
    const kept = this.#find(scheduleId);
    const { spec, session, untrusted = kept.schedule.untrusted, ...rest } = wish;
    const nowMs = this.#deps.clock.nowMs();
    const schedule: Schedule = {
      ...kept.schedule,
      ...withoutUndefined(rest),
      untrusted: [...untrusted],
      ...(spec === undefined ? {} : { spec: this.#deps.dueTimes.settle(spec, nowMs) }),
      ...(session === undefined ? {} : { session: this.#sessionOf(session) }),
    };
    const paused = !kept.schedule.enabled && schedule.enabled ? this.#pausedTimes(kept, nowMs) : [];
    this.#deps.log.append(systemSessionId, [...paused, { type: 'schedule.changed', body: { schedule, by } }], true);
    return this.get(scheduleId);
  }

  remove(scheduleId: string, by: string): void {
    this.#find(scheduleId);
    this.#deps.log.append(systemSessionId, [{ type: 'schedule.removed', body: { scheduleId, by } }], true);
  }

  preview(spec: ScheduleSpecInput, count: number): number[] {
    const { clock, dueTimes } = this.#deps;
    const nowMs = clock.nowMs();
    return dueTimes.between(dueTimes.settle(spec, nowMs), { afterMs: nowMs, untilMs: Infinity, max: count });
  }

  /** An entry for a firing outside the due times. */
  firingNow(scheduleId: string, by: string): { kept: KeptSchedule; entry: ScheduleFired } {
    return { kept: this.#find(scheduleId), entry: { scheduleId, dueMs: this.#deps.clock.nowMs(), disposition: 'run', by } };
  }

  record(entries: readonly ScheduleFired[]): void {
    this.#deps.log.append(
      systemSessionId,
      entries.map((body) => ({ type: 'schedule.fired', body })),
      true,
    );
  }

  rewind(fromMs: number, toMs: number): void {
    this.#deps.log.append(systemSessionId, [{ type: 'schedule.rewound', body: { fromMs, toMs } }], true);
  }

  tasks(which: 'open' | 'all', limit: number): Task[] {
    return this.#deps.book.tasks(which, limit);
  }

  /** Fails with queue_full. A repeated call with the same `taskId` returns the same task. */
  addTask(task: { readonly text: string; readonly taskId?: string; readonly sessionId?: string }, origin: Origin): Task {
    const { log, ids, book } = this.#deps;
    const { text, taskId = ids.next('tsk'), sessionId = null } = task;
    const known = book.task(taskId);
    if (known !== null) return known;
    if (book.openTasks >= TASKS_MAX) {
      throw new AppError('queue_full', `The task list holds ${TASKS_MAX} open tasks already.`, {
        hint: 'Close or drop some first.',
      });
    }
    const body = { taskId, text, by: origin.by, sessionId, untrusted: [...(origin.untrusted ?? [])] };
    log.append(systemSessionId, [{ type: 'task.added', body }], true);
    return this.#task(taskId);
  }

  closeTask(taskId: string, how: 'done' | 'dropped', by: string): Task {
    const task = this.#task(taskId);
    if (task.state !== 'open') return task;
    this.#deps.log.append(systemSessionId, [{ type: 'task.closed', body: { taskId, how, by } }], true);
    return this.#task(taskId);
  }

  #task(taskId: string): Task {
    const task = this.#deps.book.task(taskId);
    if (task === null) throw new AppError('not_found', `There is no task ${taskId}.`);
    return task;
  }

  #find(scheduleId: string): KeptSchedule {
    const kept = this.#deps.book.find(scheduleId);
    if (kept === null) throw new AppError('not_found', `There is no schedule ${scheduleId}.`);
    return kept;
  }

  #view(kept: KeptSchedule, fires: number): ScheduleView {
    const { book, statusOf } = this.#deps;
    const { schedule } = kept;
    const nextMs = schedule.enabled ? this.#comingTimes(kept) : [];
    const last = book.fires(schedule.scheduleId, fires).map((fired) => ({ ...fired, status: statusOf(fired) }));
    return { ...schedule, nextMs, last };
  }

  /** Without times that ran before the clock was set back: they come again, but do not run again. */
  #comingTimes({ schedule: { scheduleId, spec }, doneMs }: KeptSchedule): number[] {
    const { book, clock, dueTimes } = this.#deps;
    const nowMs = clock.nowMs();
    const ranToMs = book.ranToMs(scheduleId);
    const coming: number[] = [];
    let dueMs = dueTimes.nextAfter(spec, doneMs - nowMs > rewindMs ? nowMs : Math.max(doneMs, nowMs));
    for (let looked = 0; dueMs !== null && coming.length < SHOWN_NEXT && looked < LOOKED_MAX; looked++) {
      if (dueMs > ranToMs || !book.hasRun(scheduleId, dueMs)) coming.push(dueMs);
      dueMs = dueTimes.nextAfter(spec, dueMs);
    }
    return coming;
  }

  #sessionOf(session: string): string {
    if (session !== 'own' && session !== 'new') this.#deps.assertSession(session);
    return session;
  }

  /** Drops finished one-time schedules before a new one is added. Fails with queue_full if there are still too many schedules. */
  #makeRoom(nowMs: number): AnyDraft[] {
    const all = this.#deps.book.all();
    const over = all.filter(
      ({ schedule, doneMs }) => schedule.spec.kind === 'at' && schedule.spec.atMs <= doneMs && schedule.spec.atMs < nowMs - OVER_MS,
    );
    if (all.length - over.length >= SCHEDULES_MAX) {
      throw new AppError('queue_full', `There are ${SCHEDULES_MAX} schedules already.`, { hint: 'Remove some first.' });
    }
    return over.map(({ schedule }) => ({ type: 'schedule.removed', body: { scheduleId: schedule.scheduleId, by: 'schedule' } }));
  }

  /** One entry for all due times of a pause that ends. */
  #pausedTimes({ schedule, doneMs }: KeptSchedule, nowMs: number): AnyDraft[] {
    const dues = this.#deps.dueTimes.between(schedule.spec, { afterMs: doneMs, untilMs: nowMs, max: PAUSE_COUNT_MAX });
    const [first] = dues;
    if (first === undefined) return [];
    const isAll = dues.length < PAUSE_COUNT_MAX;
    const untilMs = isAll ? (dues.at(-1) ?? first) : nowMs;
    const body: ScheduleFired = {
      scheduleId: schedule.scheduleId,
      dueMs: first,
      disposition: 'paused',
      untilMs,
      count: dues.length,
      ...(isAll ? {} : { atLeast: true }),
      reason: 'It was paused.',
    };
    return [{ type: 'schedule.fired', body }];
  }
}

function withoutUndefined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
