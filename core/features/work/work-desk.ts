// Drives work with criteria: attempts, checks and choices, one after the other, each recorded before the next. All state is in the log, and
// turns have deduplication keys, so a restart continues at the interrupted step.

import type { IdSource } from '../../base/ids.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { AnyDraft, EventBodies, EventType } from '../../contracts/events.ts';
import { workEvents, type WorkFile, type WorkPlan, workSessionOf, type WorkView } from '../../contracts/features/work.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { WorkStrategy } from '../../contracts/work-strategy.ts';
import { markOf, restOf, Runs, type RunsDeps, type Watching } from '../../runtime/runs/runs.ts';
import { type TurnPort, whenTurnEnds } from '../../runtime/turns/turns.ts';
import { type CandidateDeps, chooseCandidate, dropCopies, mergeChosen, metCandidates, modelOf, prepareCopy } from './candidates.ts';
import { checkCriterion, type CriteriaDeps, lookByRule } from './criteria.ts';
import { checksOf, describeCriterion, foldWork, nextStep, orderOf, type WorkState, type WorkStep } from './fold.ts';
import { spentBy, viewWork } from './work-view.ts';

export interface WorkDeskDeps extends CriteriaDeps, CandidateDeps, RunsDeps {
  readonly ids: IdSource;
  readonly turns: TurnPort;
  /** Fails with not_found. */
  strategyOf(name: string): WorkStrategy;
}

interface StartedBy {
  readonly channel: string;
  readonly by: string;
  readonly taskId?: string;
  /** The sources of a task file that an agent wrote after it had read untrusted content. */
  readonly untrusted?: readonly TaintSource[];
  /** Runs in the transaction that begins the work. */
  readonly alongside?: () => void;
}

const TITLE_CHARS_MAX = 60;
const personChooses = 'Choose the candidate that is taken.';

export class WorkDesk {
  readonly #deps: WorkDeskDeps;
  readonly runs: Runs<WorkState, WorkView>;

  constructor(deps: WorkDeskDeps) {
    this.#deps = deps;
    this.runs = new Runs(deps, {
      noun: 'work',
      hint: 'See: trayclaw work list',
      types: Object.keys(workEvents) as EventType[],
      fold: foldWork,
      view: (state, waits) => viewWork(state, { ...deps, next: (candidate) => this.#nextToShow(state, candidate) }, waits),
      drive: (taskId, watching) => this.#drive(taskId, watching),
    });
  }

  /** Fails with panic_engaged or a store error. */
  start(task: WorkFile, plan: WorkPlan, { taskId = this.#deps.ids.next('wrk'), untrusted = [], alongside, ...from }: StartedBy): string {
    const gate = plan.kind === 'human-gate' ? [{ person: 'A person accepts the result.' }] : [];
    const criteria = [...task.deliverables.map((file) => ({ file })), ...task.criteria, ...gate];
    const input = task.input === undefined ? null : typeof task.input === 'string' ? task.input : JSON.stringify(task.input, null, 2);
    const body = { taskId, goal: task.goal, criteria, input, deliverables: task.deliverables, plan, ...from };
    const opening = this.#opening(plan, titleFor(this.#deps.redactPrompt(task.goal)), plan.workspace);
    this.runs.begin(taskId, workSessionOf(taskId), [opening, ...markOf(untrusted), { type: 'work.started', body }], alongside);
    return taskId;
  }

  /** Records a person's verdict. Fails with not_found, and with conflict if no check waits for a verdict. */
  judge(taskId: string, verdict: 'pass' | 'fail', given: { readonly note: string; readonly by: string }): void {
    const state = this.runs.state(taskId);
    for (const candidate of linesOf(state)) {
      const step = state.finished === null ? this.#next(state, candidate) : null;
      if (step?.kind !== 'ask') continue;
      const { attempt, index } = step;
      const text = textOf(state, index);
      const evidence = given.note === '' ? `${given.by} ${verdict === 'pass' ? 'accepts' : 'rejects'} it.` : given.note;
      this.runs.release(taskId, text);
      this.#tell(state, { type: 'work.checked', body: { taskId, attempt, candidate, index, text, verdict, evidence, by: given.by } });
      return;
    }
    throw new AppError('conflict', `${taskId} waits for no verdict.`, { hint: `See: trayclaw work show ${taskId}` });
  }

  choose(taskId: string, candidate: number, by: string): void {
    const state = this.runs.state(taskId);
    if (state.finished !== null || state.chosen !== null || !metCandidates(state).includes(candidate)) {
      throw new AppError('conflict', `Candidate ${candidate} of ${taskId} cannot be chosen.`, {
        hint: `Only one that meets every criterion can. See: trayclaw work show ${taskId}`,
      });
    }
    this.runs.release(taskId, personChooses);
    this.#tell(state, { type: 'work.chosen', body: { taskId, candidate, by, reason: `${by} chose it.` } });
  }

  cancel(taskId: string, by: string): void {
    const state = this.runs.state(taskId);
    if (state.finished !== null) throw new AppError('conflict', `${taskId} has ended already.`);
    for (const turnId of this.runs.held(taskId)) this.#cancelTurn(turnId);
    this.runs.abort(taskId);
    this.#end(state, 'fail', `${by} cancelled it.`);
  }

  async #drive(taskId: string, watching: Watching): Promise<void> {
    const { plan } = this.runs.state(taskId).started;
    if (plan.kind === 'candidates') return this.#compete(taskId, watching);
    const { status, reason } = await this.#line(taskId, null, watching);
    const state = this.runs.state(taskId);
    if (state.finished === null) this.#end(state, status, reason);
  }

  async #compete(taskId: string, watching: Watching): Promise<void> {
    await this.runs.onDisk(taskId);
    const lines = linesOf(this.runs.state(taskId));
    for (const candidate of lines) prepareCopy(this.#deps, this.runs.state(taskId), candidate ?? 1);
    this.runs.readAgain(taskId);
    const ends = await Promise.all(lines.map((candidate) => this.#line(taskId, candidate, watching)));
    const met = metCandidates(this.runs.state(taskId));
    if (met.length === 0) return this.#end(this.runs.state(taskId), 'fail', ends[0]?.reason ?? 'No candidate meets every criterion.');
    if (this.runs.state(taskId).chosen === null) {
      const choice = await chooseCandidate(this.#deps, this.runs.state(taskId), met, watching.signal);
      if (choice !== null) this.#tell(this.runs.state(taskId), { type: 'work.chosen', body: { taskId, ...choice } });
    }
    const { candidate } = await this.runs.until(taskId, personChooses, watching, () => this.runs.state(taskId).chosen);
    const problem = await mergeChosen(this.#deps, this.runs.state(taskId), candidate, watching);
    this.#end(this.runs.state(taskId), problem === null ? 'pass' : 'fail', problem ?? `Candidate ${candidate} was chosen and merged.`);
  }

  /** Repeats attempts and checks until the line ends. */
  async #line(
    taskId: string,
    candidate: number | null,
    watching: Watching,
  ): Promise<{ readonly status: 'pass' | 'fail'; readonly reason: string }> {
    for (;;) {
      watching.signal.throwIfAborted();
      const state = this.runs.state(taskId);
      const step = this.#next(state, candidate);
      if (step.kind === 'end') return step;
      if (step.kind === 'attempt') await this.#attempt(state, candidate, step, watching);
      else if (step.kind === 'check') await this.#check(state, candidate, step, watching);
      else
        await this.runs.until(taskId, textOf(state, step.index), watching, () =>
          this.#next(this.runs.state(taskId), candidate).kind === 'ask' ? null : true,
        );
    }
  }

  #next(state: WorkState, candidate: number | null): WorkStep {
    const { custom } = state.started.plan;
    return nextStep(state, candidate, custom === undefined ? null : this.#deps.strategyOf(custom));
  }

  /** Null if the strategy is no longer available, so that the work can still be shown. */
  #nextToShow(state: WorkState, candidate: number | null): WorkStep | null {
    try {
      return this.#next(state, candidate);
    } catch (cause) {
      if (toAppError(cause).code !== 'not_found') throw cause;
      return null;
    }
  }

  async #attempt(
    state: WorkState,
    candidate: number | null,
    { attempt, message }: Extract<WorkStep, { kind: 'attempt' }>,
    watching: Watching,
  ): Promise<void> {
    const { log, turns } = this.#deps;
    const { taskId, plan, channel, by, goal } = state.started;
    const sessionId = candidate === null ? state.sessionId : `${state.sessionId}-${candidate}`;
    const folder = folderOf(state, candidate);
    const model = (candidate === null ? undefined : plan.models[(candidate - 1) % plan.models.length]) ?? plan.model;
    const begins = log.index.session(sessionId) === null;
    // If a power cut loses the turn before it is on disk, the attempt begins again.
    const accepted = turns.accept({
      sessionId,
      agentId: plan.agentId,
      channel,
      sender: by,
      text: message ?? messageFor(state, candidate, attempt),
      // The task may come from a marked file. Findings quote what the attempt read, so they are not the person's words.
      untrusted: this.#deps.sourcesOf(attempt === 1 ? state.sessionId : sessionId),
      // After a crash, the restart finds the turn that was begun by this key.
      dedupeKey: `${taskId}:${candidate ?? 'work'}:${attempt}`,
      before: begins ? [this.#opening(plan, `${titleFor(this.#deps.redactPrompt(goal))} (candidate ${candidate ?? ''})`, folder)] : [],
      bounds: { ...plan.bounds, ...restOf(plan, spentBy(state, log)) },
      ...(model === null ? {} : { model }),
    });
    const begun = { sessionId, turnId: accepted.turnId };
    const [{ status, text }] = await Promise.all([whenTurnEnds(this.#deps, begun, watching), accepted.onDisk]);
    this.#tell(state, ...this.#foundIn(state, { taskId, attempt, candidate, ...begun, status, text }));
  }

  /** The events of an attempt, of the checks by rule that follow it, and of its end if it has ended. They are stored in one commit. */
  #foundIn(state: WorkState, attempted: EventBodies['work.attempted']): AnyDraft[] {
    const { taskId, attempt, candidate, text: answer, status } = attempted;
    const folder = folderOf(state, candidate) ?? this.#deps.configured;
    const checks: EventBodies['work.checked'][] = [];
    for (const index of status === 'done' ? orderOf(state.started.criteria) : []) {
      const criterion = state.started.criteria[index];
      const verdict = criterion === undefined ? null : lookByRule(this.#deps, criterion, { answer, folder });
      if (verdict === null) break;
      checks.push({ taskId, attempt, candidate, index, text: textOf(state, index), ...verdict });
    }
    const found: AnyDraft[] = [
      { type: 'work.attempted', body: attempted },
      ...checks.map((body) => ({ type: 'work.checked' as const, body })),
    ];
    if (candidate !== null) return found;
    const now = { ...state, attempts: [...state.attempts, attempted], checks: [...state.checks, ...checks] };
    const next = this.#next(now, null);
    return next.kind === 'end' ? [...found, { type: 'work.finished', body: { taskId, status: next.status, reason: next.reason } }] : found;
  }

  async #check(
    state: WorkState,
    candidate: number | null,
    { attempt, index }: { readonly attempt: number; readonly index: number },
    watching: Watching,
  ): Promise<void> {
    const { taskId, plan, goal, criteria, channel, deliverables } = state.started;
    const criterion = criteria[index];
    const made = state.attempts.findLast((one) => one.candidate === candidate);
    if (criterion === undefined || made === undefined) throw new AppError('internal', `${taskId} has no criterion ${index}.`);
    const { sessionId, turnId, text: answer } = made;
    const workspace = folderOf(state, candidate);
    const key = `${taskId}:check:${candidate ?? 'work'}:${attempt}:${index}`;
    const judge = (): string | null => plan.judge ?? modelOf(this.#deps.log, made);
    const place = { key, goal, sessionId, turnId, agentId: plan.agentId, channel, workspace, folder: workspace ?? this.#deps.configured };
    const work = { ...place, answer, deliverables, judge };
    const { spent, ...verdict } = await checkCriterion(this.#deps, criterion, work, watching);
    this.#tell(state, {
      type: 'work.checked',
      body: { taskId, attempt, candidate, index, text: textOf(state, index), ...verdict, ...spent },
    });
  }

  #opening({ agentId }: WorkPlan, title: string, workspace: string | null): AnyDraft {
    const body = { title, agentId, channel: 'work', forkedFrom: null, ...(workspace === null ? {} : { workspace }) };
    return { type: 'session.created', body };
  }

  #end(state: WorkState, status: 'pass' | 'fail', reason: string): void {
    const { taskId } = state.started;
    dropCopies(this.#deps, state);
    this.#tell(state, { type: 'work.finished', body: { taskId, status, reason } });
  }

  #cancelTurn(turnId: string): void {
    try {
      this.#deps.turns.cancel(turnId, 'The work it belongs to was cancelled.', 'person');
    } catch (cause) {
      // The entry may be a question to a person, or a turn that has just ended.
      const { code } = toAppError(cause);
      if (code !== 'turn_not_running' && code !== 'not_found') throw cause;
    }
  }

  #tell(state: WorkState, ...drafts: readonly AnyDraft[]): void {
    this.runs.tell(state, state.started.taskId, drafts);
  }
}

/** Null for the configured workspace. */
function folderOf({ started: { plan }, copies }: WorkState, candidate: number | null): string | null {
  return candidate === null ? plan.workspace : (copies.get(candidate)?.folder ?? null);
}

function titleFor(goal: string): string {
  const [line = ''] = goal.split('\n');
  return line.length <= TITLE_CHARS_MAX ? line : `${line.slice(0, TITLE_CHARS_MAX)}…`;
}

function linesOf({ started: { plan } }: WorkState): (number | null)[] {
  return plan.kind === 'candidates' ? Array.from({ length: plan.candidates }, (_, index) => index + 1) : [null];
}

function textOf({ started: { criteria } }: WorkState, index: number): string {
  const criterion = criteria[index];
  return criterion === undefined ? '' : describeCriterion(criterion);
}

// The messages of work to the agent: the goal, and the findings of checks. Pure.

/** The first message states the goal, later ones the findings of the last check. */
function messageFor(state: WorkState, candidate: number | null, attempt: number): string {
  return attempt === 1 ? askFor(state.started) : critiqueOf(state, candidate, attempt - 1);
}

function askFor({ goal, input, criteria }: EventBodies['work.started']): string {
  const given = input === null ? '' : `\n\nInput:\n${input}`;
  const asked = criteria.filter((one) => !('person' in one)).map((one) => `- ${describeCriterion(one)}`);
  return `${goal}${given}${asked.length === 0 ? '' : `\n\nIt is done when:\n${asked.join('\n')}`}`;
}

function critiqueOf(state: WorkState, candidate: number | null, attempt: number): string {
  const found = checksOf(state, candidate, attempt);
  const lines = state.started.criteria.flatMap((_, index) => {
    const check = found.get(index);
    if (check === undefined) return [];
    return [check.verdict === 'pass' ? `- met: ${check.text}` : `- not met: ${check.text}\n  ${check.evidence.replaceAll('\n', '\n  ')}`];
  });
  return `The result was checked, and it is not done yet.\n${lines.join('\n')}\n\nCorrect what is not met. What is met must stay so. Give the whole answer again.`;
}
