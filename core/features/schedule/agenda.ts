// The plans an agent makes without a request: tasks, follow-ups at a single time, and recurring jobs. Owns their limits: how deep, how many
// a day, and never more rights than the turn that made the plan.

import { isOver } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type EventBodies } from '../../contracts/events.ts';
import type { Schedule, ScheduleSpecInput, Task } from '../../contracts/features/schedule.ts';
import { jobBoundsSchema, narrow, wholeBounds, type JobBounds } from '../../contracts/turn-bounds.ts';
import type { TaintSource, ToolContext } from '../../contracts/tools.ts';
import type { Spine } from '../feature.ts';
import type { ScheduleBook } from './rows.ts';
import type { Origin, Schedules } from './schedules.ts';

type Place = Pick<ToolContext, 'sessionId' | 'turnId' | 'idempotencyKey'>;

export interface FollowUp {
  readonly prompt: string;
  readonly when: { readonly inMinutes: number } | { readonly local: string; readonly zone?: string | undefined };
}

export interface RecurringJob {
  readonly name?: string | undefined;
  readonly prompt: string;
  readonly when: ScheduleSpecInput;
  readonly tools?: readonly string[] | undefined;
  readonly usd?: number | undefined;
}

export interface AgendaDeps extends Pick<Spine, 'log' | 'clock'> {
  readonly book: ScheduleBook;
  readonly schedules: Schedules;
  sourcesOf(sessionId: string): readonly TaintSource[];
}

/** The third follow-up in a chain is the last one. */
const DEPTH_MAX = 3;
const PER_DAY = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NAME_MAX = 60;
/** The maximum number of recurring jobs made by agents at one time. */
const RECURRING_MAX = 10;
const RECURRING_APART_MS = 5 * MINUTE_MS;
/** The money limit of each run if the agent names none. */
const RECURRING_USD = 0.25;
const SHOWN_NEXT = 3;

export class Agenda {
  readonly #deps: AgendaDeps;

  constructor(deps: AgendaDeps) {
    this.#deps = deps;
  }

  tasks(limit: number): Task[] {
    return this.#deps.schedules.tasks('open', limit);
  }

  addTask(text: string, place: Place): Task {
    const origin = { by: this.#agentOf(place), untrusted: this.#deps.sourcesOf(place.sessionId) };
    return this.#deps.schedules.addTask({ text, taskId: `tsk_${place.idempotencyKey}`, sessionId: place.sessionId }, origin);
  }

  closeTask(taskId: string, how: 'done' | 'dropped', place: Place): Task {
    return this.#deps.schedules.closeTask(taskId, how, this.#agentOf(place));
  }

  /** Returns the time and the depth of a follow-up without creating it. Fails with the errors of `followUp`. */
  previewFollowUp(when: FollowUp['when'], { turnId }: Pick<Place, 'turnId'>): { readonly spec: ScheduleSpecInput; readonly depth: number } {
    const { book, clock, schedules } = this.#deps;
    const nowMs = clock.nowMs();
    const depth = (book.ofTurn(turnId)?.depth ?? 0) + 1;
    if (depth > DEPTH_MAX) throw refuse(`A follow-up may plan another ${DEPTH_MAX - 1} times in a row, and this would be one more.`);
    if (this.#plannedWithinDay(nowMs) >= PER_DAY) throw refuse(`There were ${PER_DAY} follow-ups within a day already.`);
    const spec: ScheduleSpecInput =
      'inMinutes' in when ? { kind: 'at', atMs: nowMs + when.inMinutes * MINUTE_MS } : { kind: 'at', ...when };
    const [dueMs = 0] = schedules.preview(spec, 1);
    if (dueMs < nowMs + MINUTE_MS) throw new AppError('denied', 'That is less than a minute away.');
    return { spec, depth };
  }

  /** Fails with denied if the follow-up is too deep, too soon or too frequent, and with the errors of creating a schedule. */
  followUp({ prompt, when }: FollowUp, place: Place): { scheduleId: string; dueMs: number } {
    const { book, schedules } = this.#deps;
    const scheduleId = `sch_${place.idempotencyKey}`;
    const known = book.find(scheduleId)?.schedule;
    if (known !== undefined) return { scheduleId, dueMs: dueOf(known) };
    const { spec, depth } = this.previewFollowUp(when, place);
    const view = schedules.create(
      {
        name: prompt.slice(0, NAME_MAX),
        prompt,
        spec,
        session: place.sessionId,
        bounds: this.#boundsOf(place),
        agentId: this.#startOf(place)?.agentId,
      },
      { ...this.#originOf(place), depth, scheduleId },
    );
    return { scheduleId, dueMs: dueOf(view) };
  }

  /** The next times and the bounds, as shown to a person. Fails with the errors of `repeat`. */
  previewRecurring(
    job: RecurringJob,
    place: Pick<Place, 'sessionId' | 'turnId'>,
  ): { readonly nextMs: readonly number[]; readonly bounds: JobBounds } {
    const { book, schedules } = this.#deps;
    if ((book.ofTurn(place.turnId)?.depth ?? 0) > 0) throw refuse('A turn that an agent planned may not make a job that comes again.');
    const made = book.all().filter(({ schedule }) => schedule.depth > 0 && schedule.spec.kind !== 'at');
    if (made.length >= RECURRING_MAX) throw refuse(`There are ${RECURRING_MAX} recurring jobs that agents made already.`);
    const nextMs = schedules.preview(job.when, SHOWN_NEXT);
    const apart = nextMs.slice(1).map((atMs, index) => atMs - (nextMs[index] ?? 0));
    if (apart.some((ms) => ms < RECURRING_APART_MS))
      throw refuse('An agent may make a job that comes every five minutes, and none more often.');
    const own = this.#boundsOf(place);
    const wanted = { tools: job.tools === undefined ? null : [...job.tools], usd: job.usd ?? RECURRING_USD };
    const within = narrow({ ...wholeBounds, ...own }, { ...wholeBounds, ...wanted });
    return { nextMs, bounds: { ...own, tools: within.tools, usd: within.usd, grants: false } };
  }

  /** Fails with denied if the job is too frequent or there are too many, and with the errors of creating a schedule. */
  repeat(job: RecurringJob, place: Place): { scheduleId: string; nextMs: readonly number[] } {
    const { book, schedules } = this.#deps;
    const scheduleId = `sch_${place.idempotencyKey}`;
    if (book.find(scheduleId) !== null) return { scheduleId, nextMs: schedules.get(scheduleId).nextMs };
    const { bounds } = this.previewRecurring(job, place);
    const { nextMs } = schedules.create(
      {
        name: (job.name ?? job.prompt).slice(0, NAME_MAX),
        prompt: job.prompt,
        spec: job.when,
        session: place.sessionId,
        bounds,
        agentId: this.#startOf(place)?.agentId,
      },
      { ...this.#originOf(place), depth: 1, scheduleId },
    );
    return { scheduleId, nextMs };
  }

  followUps({ sessionId }: Place): { scheduleId: string; prompt: string; dueMs: number }[] {
    return this.#planned(sessionId).flatMap(({ scheduleId, prompt }) => {
      const [dueMs] = this.#deps.schedules.get(scheduleId).nextMs;
      return dueMs === undefined ? [] : [{ scheduleId, prompt, dueMs }];
    });
  }

  /** Cancels only plans that an agent made in the same conversation, never a schedule of a person. */
  cancelFollowUp(scheduleId: string, place: Place): void {
    if (!this.#planned(place.sessionId).some((schedule) => schedule.scheduleId === scheduleId)) {
      throw new AppError('not_found', `Nothing with the id ${scheduleId} is planned in this conversation.`);
    }
    this.#deps.schedules.remove(scheduleId, this.#agentOf(place));
  }

  #planned(sessionId: string): Schedule[] {
    const nowMs = this.#deps.clock.nowMs();
    const all = this.#deps.book.all().map(({ schedule }) => schedule);
    const isAhead = (schedule: Schedule): boolean => schedule.spec.kind !== 'at' || schedule.spec.atMs > nowMs;
    return all.filter((schedule) => schedule.depth > 0 && schedule.session === sessionId && isAhead(schedule));
  }

  /** Counted from the log, so that cancelling a plan does not make room for another. */
  #plannedWithinDay(nowMs: number): number {
    const made = this.#deps.log.reads.slice(systemSessionId, { types: ['schedule.created'], limit: PER_DAY * 2, newest: true });
    // A plan that was made while the clock was ahead would count until that time comes.
    const isRecent = (atMs: number): boolean => !isOver({ fromMs: atMs, untilMs: atMs + DAY_MS }, nowMs);
    return made.filter(({ type, body, atMs }) => type === 'schedule.created' && body.schedule.depth > 0 && isRecent(atMs)).length;
  }

  /** At most the bounds of the planning turn; otherwise the bounds of any unattended turn. */
  #boundsOf(place: Pick<Place, 'sessionId' | 'turnId'>): JobBounds {
    const bounds = this.#startOf(place)?.bounds;
    if (bounds === undefined) return jobBoundsSchema.parse({});
    const { tools, classes, folders, hosts, steps, turnMs, usd, tokens, grants, unattended } = bounds;
    return jobBoundsSchema.parse({ tools, classes, folders, hosts, steps, turnMs, usd, tokens, grants: grants && unattended !== null });
  }

  /** A plan of an outsider's turn stays theirs. */
  #originOf(place: Place): Pick<Origin, 'by' | 'untrusted' | 'outsider'> {
    const outsider = this.#startOf(place)?.bounds?.outsider;
    const untrusted = this.#deps.sourcesOf(place.sessionId);
    return { by: this.#agentOf(place), untrusted, ...(outsider === undefined ? {} : { outsider }) };
  }

  #startOf({ sessionId, turnId }: Pick<Place, 'sessionId' | 'turnId'>): EventBodies['turn.started'] | undefined {
    const { log } = this.#deps;
    const firstSeq = log.index.turn(turnId)?.firstSeq ?? 0;
    return log.reads.turn(sessionId, turnId, firstSeq).find((event) => event.type === 'turn.started')?.body;
  }

  #agentOf(place: Place): string {
    return `agent ${this.#startOf(place)?.agentId ?? 'main'}`;
  }
}

function dueOf({ spec }: Pick<Schedule, 'spec'>): number {
  return spec.kind === 'at' ? spec.atMs : 0;
}

function refuse(message: string): AppError {
  return new AppError('denied', message, { hint: 'Say what is left to do, and let the person decide.' });
}
