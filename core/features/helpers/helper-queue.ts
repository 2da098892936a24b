// The queue of subagents: a turn of one agent calls another agent, waits or continues, and receives the result once. All state is in the
// log, so the queue resumes after a crash at any point. Runs no turn and decides no permission.

import { isOver, SleepWatch } from '../../base/clock.ts';
import { AppError, toAppError, type ErrorCode } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, EventBodies } from '../../contracts/events.ts';
import { type HelperEnd } from '../../contracts/features/helpers.ts';
import { noUsage } from '../../contracts/llm.ts';
import { ownSessions, ownChannels } from '../../contracts/system-session.ts';
import { answerOf, endOf, taskOf, type EndedHelp } from './helper-words.ts';
import { deliveryKey, type HelperJob } from './rows.ts';
import { type CallPlace, type HelperDeps, planCall, startOf, type WantedHelp } from './plan-call.ts';

const LOOK_AGAIN_MS = 30_000;
const RETRY_FIRST_MS = 2_000;
const RETRY_MOST_MS = 60_000;
const outOfTime = 'timeout';
const passing: readonly (ErrorCode | undefined)[] = ['model_rate_limited', 'model_unavailable', 'model_timeout', 'model_cut_off'];
/** Errors after which nothing can be started or delivered now, so it is retried later. */
const notNow: readonly ErrorCode[] = ['panic_engaged', 'queue_full', 'shutting_down'];

export class HelperQueue {
  readonly #deps: HelperDeps;
  readonly #waiting = new Map<string, PromiseWithResolvers<HelperJob>[]>();
  readonly #timers = new Set<() => void>();
  readonly #stopListening: () => void;
  readonly #sleep: SleepWatch;
  /** Sleeps of the machine while subagents were open. They do not count against the time of a subagent. */
  #sleeps: { readonly endMs: number; readonly ms: number }[] = [];
  #deadline: (() => void) | null = null;
  #todo: AnyEvent[] = [];
  #closed = false;

  constructor(deps: HelperDeps) {
    this.#deps = deps;
    this.#sleep = new SleepWatch(deps.clock);
    this.#stopListening = deps.log.onCommitted((events) => this.#hear(events));
  }

  /**
   * Commits the call before it returns. A repeated call returns the existing job. Fails with not_found, denied, queue_full, panic_engaged,
   * shutting_down or a store error.
   */
  call(from: CallPlace, wanted: WantedHelp): HelperJob {
    const { rows, limits, panic, crashPoints } = this.#deps;
    const known = rows.byKey(from.callId);
    if (known !== null) return known;
    if (this.#closed) throw new AppError('shutting_down', 'TrayClaw is closing.');
    if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
    // A sleep before the call is none of the new subagent.
    this.#noteSleep();
    const body = planCall(this.#deps, from, wanted);
    if (!this.#hasRoom(body) && rows.waiting() >= limits.queued) {
      throw new AppError('queue_full', `${limits.queued} subagent calls are already waiting.`, { hint: 'Wait for some to end.' });
    }
    this.#tell(from, { type: 'a2a.called', body });
    crashPoints.reach('helper-called');
    this.#pump();
    this.#armDeadline();
    return this.job(body.jobId);
  }

  /** Resolves with the ended job. Rejects with `cancelled` if the signal aborts, without cancelling the job. */
  async whenFinished(jobId: string, signal: AbortSignal): Promise<HelperJob> {
    const job = this.job(jobId);
    if (job.state === 'finished') return job;
    const deferred = Promise.withResolvers<HelperJob>();
    const others = this.#waiting.get(jobId);
    if (others === undefined) this.#waiting.set(jobId, [deferred]);
    else others.push(deferred);
    const giveUp = (): void => deferred.reject(new AppError('cancelled', 'The call was interrupted while its subagent was running.'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      return await deferred.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      const left = this.#waiting.get(jobId)?.filter((one) => one !== deferred) ?? [];
      if (left.length > 0) this.#waiting.set(jobId, left);
      else this.#waiting.delete(jobId);
    }
  }

  /** Fails with not_found. */
  job(jobId: string): HelperJob {
    const job = this.#deps.rows.job(jobId);
    if (job === null) throw new AppError('not_found', `There is no subagent ${jobId}.`);
    return job;
  }

  /** The models of the subagents above a turn, nearest first; null for a subagent with its agent's own model. */
  modelsAbove(turnId: string): (string | null)[] {
    const models: (string | null)[] = [];
    for (let job = this.#deps.rows.byHelperTurn(turnId); job !== null; job = this.#deps.rows.byHelperTurn(job.from.turnId))
      models.push(job.model ?? null);
    return models;
  }

  /** Newest first; of one session, or with null of all. */
  list(sessionId: string | null): HelperJob[] {
    return this.#deps.rows.list(sessionId);
  }

  /** The sessions of the session's subagents, and of all subagents below them. */
  sessionsBelow(sessionId: string): string[] {
    return this.#deps.rows.sessionsBelow(sessionId);
  }

  /** Cancels a subagent and all subagents below it. Ignores a subagent that has ended. Fails with not_found. */
  cancel(jobId: string, by: string, reason: string): HelperJob {
    this.#cancel(this.job(jobId), by, reason);
    return this.job(jobId);
  }

  /** Resumes the work of an earlier run: ends subagents whose callers no longer wait, starts queued ones, and delivers results. */
  begin(): void {
    for (const job of this.#deps.rows.open()) this.#attempt(job, () => this.#takeUp(job));
    this.#pump();
    this.#deliverAll();
    this.#armDeadline();
  }

  dispose(): void {
    this.#closed = true;
    this.#stopListening();
    this.#deadline?.();
    for (const callOff of this.#timers) callOff();
    this.#timers.clear();
  }

  #takeUp(job: HelperJob): void {
    const parent = this.#deps.log.index.turn(job.from.turnId)?.status;
    if (parent === 'cancelled' || parent === 'stopped') this.#cancel(job, 'its caller', 'The turn that called was stopped.');
    else if (job.state === 'retrying') this.#again(job);
    else if (job.state === 'running') this.#lookAt(job);
  }

  #hasRoom({ depth, from }: Pick<HelperJob, 'depth' | 'from'>): boolean {
    const { rows, limits } = this.#deps;
    const { level, ofTurn } = rows.working(depth, from.turnId);
    // Counted by level, so that a waiting subagent never takes a place that its subagents need.
    return level < limits.atOnce && ofTurn < limits.perTurn;
  }

  #pump(): void {
    if (this.#closed || this.#deps.panic.engaged) return;
    for (const job of this.#deps.rows.queued()) {
      if (this.#hasRoom(job)) this.#attempt(job, () => this.#start(job));
    }
  }

  #start(job: HelperJob): void {
    const { turns, log, crashPoints } = this.#deps;
    const sessionId = `${ownSessions.helper}${job.jobId}`;
    // The subagent works in its caller's workspace.
    const workspace = log.index.session(job.from.sessionId)?.workspace ?? null;
    const created = {
      title: job.label,
      agentId: job.agentId,
      channel: ownChannels.helper,
      forkedFrom: null,
      ...(workspace === null ? {} : { workspace }),
    };
    const caller = startOf(this.#deps, job.from).agentId;
    const { turnId } = turns.submit({
      sessionId,
      agentId: job.agentId,
      channel: ownChannels.helper,
      sender: caller,
      ...(job.model === undefined
        ? { text: taskOf(job, caller, this.#deps.instructions()), ...this.#carried(job) }
        : { text: job.task, model: job.model }),
      // After a crash, the key returns the turn that was already started.
      dedupeKey: `task:${job.jobId}`,
      untrusted: this.#deps.sourcesOf(job.from.sessionId),
      before: log.index.session(sessionId) === null ? [{ type: 'session.created', body: created }] : [],
      bounds: job.bounds,
      helper: { jobId: job.jobId, label: job.label, from: job.from, agentId: caller, payers: job.payers },
    });
    crashPoints.reach('helper-submitted');
    this.#tell(job.from, { type: 'a2a.started', body: { jobId: job.jobId, sessionId, turnId, attempt: 1 } });
    this.#lookAt(this.job(job.jobId));
  }

  /** If a group of nodes shares one queue, the subagent's turn here only receives the answer of the node. */
  #carried({ agentId }: HelperJob): { readonly model?: string } {
    const model = this.#deps.carrierOf(agentId);
    return model === null ? {} : { model };
  }

  /** Ends the job if its turn has ended. */
  #lookAt(job: HelperJob): void {
    const { log, limits } = this.#deps;
    if (job.state !== 'running' || job.helperTurnId === null || job.helperSessionId === null) return;
    const end = log.reads.turnEnd(job.helperSessionId, job.helperTurnId);
    if (end === null) return;
    const mayTry = job.cancelledBy === null && job.attempt <= limits.retries && !this.#isOverdue(job);
    if (end.status === 'failed' && passing.includes(end.error?.code) && mayTry) this.#planRetry(job, end);
    else this.#finish(job, endOf(end, { outOfTime: job.cancelledBy === outOfTime, spent: this.#spentBefore(job) }));
  }

  #planRetry(job: HelperJob, end: EventBodies['turn.finished']): void {
    const waitMs = Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** (job.attempt - 1));
    const reason = `${end.error?.code ?? 'failed'}: ${end.error?.message ?? ''}`;
    this.#tell(job.from, { type: 'a2a.retried', body: { jobId: job.jobId, attempt: job.attempt + 1, waitMs, reason } });
    this.#after(waitMs, () => this.#attempt(job, () => this.#again(this.job(job.jobId))));
  }

  #again(job: HelperJob): void {
    if (job.state !== 'retrying' || job.helperTurnId === null || job.helperSessionId === null) return;
    const { turns, log } = this.#deps;
    // The turn may have been restarted before a crash without a record.
    const newest = log.index.lastTurn(job.helperSessionId)?.turnId ?? job.helperTurnId;
    const turnId = newest === job.helperTurnId ? turns.retry(job.helperTurnId, { model: null, by: ownChannels.helper }).turnId : newest;
    const body = { jobId: job.jobId, sessionId: job.helperSessionId, turnId, attempt: job.attempt + 1 };
    this.#tell(job.from, { type: 'a2a.started', body });
    this.#lookAt(this.job(job.jobId));
  }

  #cancel(job: HelperJob, by: string, reason: string): void {
    if (job.state === 'finished') return;
    if (job.cancelledBy === null) this.#tell(job.from, { type: 'a2a.cancel_requested', body: { jobId: job.jobId, by, reason } });
    if (job.state !== 'running' || job.helperTurnId === null) {
      const status = this.#deps.panic.engaged ? 'stopped' : by === outOfTime ? 'timeout' : 'cancelled';
      this.#finish(job, { ...nothingDone, status });
      return;
    }
    try {
      this.#deps.turns.cancel(job.helperTurnId, reason, this.#deps.panic.engaged ? 'panic' : 'person');
    } catch (cause) {
      // The turn has ended in the meantime.
      if (toAppError(cause).code !== 'turn_not_running') throw cause;
    }
    this.#lookAt(this.job(job.jobId));
  }

  #finish(job: HelperJob, { status, text, usage, costUsd }: EndedHelp): void {
    this.#tell(job.from, { type: 'a2a.finished', body: { jobId: job.jobId, status, text, usage, costUsd } });
    this.#deps.crashPoints.reach('helper-finished');
    const ended = this.job(job.jobId);
    for (const deferred of this.#waiting.get(job.jobId) ?? []) deferred.resolve(ended);
    this.#deliverAll();
    this.#pump();
  }

  /** The ends of the turns of earlier attempts. */
  #spentBefore(job: HelperJob): readonly EventBodies['turn.finished'][] {
    const earlier = this.#deps.rows.turnsOf(job.jobId).filter((turnId) => turnId !== job.helperTurnId);
    const ends = earlier.map((turnId) => this.#deps.log.reads.turnEnd(job.helperSessionId ?? '', turnId));
    return ends.filter((end) => end !== null);
  }

  #deliverAll(): void {
    if (this.#closed || this.#deps.panic.engaged) return;
    for (const job of this.#deps.rows.undelivered()) this.#attempt(job, () => this.#deliver(job));
  }

  /**
   * Delivers the result as a message in the calling session, with the bounds of the calling turn. The key ensures that it is delivered
   * once.
   */
  #deliver(job: HelperJob): void {
    const caller = startOf(this.#deps, job.from);
    const { bounds, helper } = caller;
    this.#deps.turns.submit({
      sessionId: job.from.sessionId,
      agentId: caller.agentId,
      channel: ownChannels.helper,
      sender: job.agentId,
      text: answerOf(job),
      dedupeKey: deliveryKey(job.jobId),
      untrusted: this.#deps.sourcesOf(job.helperSessionId ?? ''),
      before: [],
      ...(bounds === undefined ? {} : { bounds }),
      ...(helper === undefined ? {} : { helper }),
    });
  }

  /** Runs after the commit that it is notified of, because its own writes are a separate commit. */
  #hear(events: readonly AnyEvent[]): void {
    const relevant = events.filter(({ type }) => heardTypes.has(type));
    if (relevant.length === 0) return;
    this.#todo.push(...relevant);
    queueMicrotask(() => {
      const todo = this.#todo;
      this.#todo = [];
      if (!this.#closed) for (const event of todo) this.#handle(event);
    });
  }

  #handle(event: AnyEvent): void {
    const { rows } = this.#deps;
    if (event.type === 'panic.released') {
      this.#pump();
      this.#deliverAll();
    } else if (event.type === 'panic.engaged') {
      for (const job of rows.queued()) this.#attempt(job, () => this.#finish(job, { ...nothingDone, status: 'stopped' }));
    } else if (event.turnId !== null) {
      const isHelpers = event.type === 'turn.finished' && event.sessionId.startsWith(ownSessions.helper);
      const ended = isHelpers ? rows.byHelperTurn(event.turnId) : null;
      if (ended !== null) this.#attempt(ended, () => this.#lookAt(ended));
      const isStopped = event.type === 'turn.cancel_requested' || (event.type === 'turn.finished' && stoppedEnds.has(event.body.status));
      for (const job of rows.openOfTurn(event.turnId)) {
        // A background subagent continues if its caller ended normally.
        if (isStopped || job.mode === 'wait') this.#attempt(job, () => this.#cancel(job, 'its caller', 'The turn that called has ended.'));
      }
    }
  }

  #armDeadline(): void {
    this.#deadline?.();
    this.#deadline = null;
    const timed = this.#closed ? [] : this.#deps.rows.open().filter(({ cancelledBy }) => cancelledBy === null);
    if (timed.length === 0) {
      this.#sleeps = [];
      return;
    }
    this.#noteSleep();
    const leftMs = Math.max(0, Math.min(...timed.map((job) => this.#deadlineOf(job))) - this.#deps.clock.nowMs());
    this.#deadline = this.#deps.later(Math.min(leftMs, LOOK_AGAIN_MS), () => {
      this.#noteSleep();
      for (const job of this.#deps.rows.open()) {
        if (job.cancelledBy === null && this.#isOverdue(job))
          this.#attempt(job, () => this.#cancel(job, outOfTime, "The subagent's time is up."));
      }
      this.#armDeadline();
    });
  }

  #noteSleep(): void {
    const ms = this.#sleep.sleptMs();
    if (ms > 0) this.#sleeps.push({ endMs: this.#deps.clock.nowMs(), ms });
  }

  #deadlineOf({ createdAtMs, deadlineMs }: HelperJob): number {
    return this.#sleeps.reduce((atMs, { endMs, ms }) => (createdAtMs < endMs ? atMs + ms : atMs), deadlineMs);
  }

  #isOverdue(job: HelperJob): boolean {
    return isOver({ fromMs: job.createdAtMs, untilMs: this.#deadlineOf(job) }, this.#deps.clock.nowMs());
  }

  #after(waitMs: number, action: () => void): void {
    const callOff = this.#deps.later(waitMs, () => {
      this.#timers.delete(callOff);
      if (!this.#closed) action();
    });
    this.#timers.add(callOff);
  }

  /** An error of one subagent does not affect the others. A step that is not possible yet is retried later. */
  #attempt(job: HelperJob, action: () => void): void {
    try {
      action();
    } catch (cause) {
      const { code, message } = toAppError(cause);
      if (code === 'conflict' || notNow.includes(code)) {
        this.#after(RETRY_FIRST_MS, () => this.begin());
        return;
      }
      this.#deps.logger.log('error', 'a subagent could not continue', { jobId: job.jobId, code, message });
    }
  }

  #tell({ sessionId, turnId }: CallPlace, draft: AnyDraft): void {
    this.#deps.turns.appendToTurn(sessionId, turnId, [{ ...draft, turnId }]);
  }
}

const heardTypes: ReadonlySet<string> = new Set(['turn.finished', 'turn.cancel_requested', 'panic.engaged', 'panic.released']);
const stoppedEnds: ReadonlySet<HelperEnd> = new Set(['cancelled', 'stopped']);
const nothingDone = { text: '', usage: noUsage, costUsd: 0 } as const;
