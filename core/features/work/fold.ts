// Folds the state of a piece of work from its events, and decides what to do next. Pure, so that a restart makes the same decisions.

import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import { endWordsOf } from '../../contracts/turn-words.ts';
import type { WorkedAttempt, WorkStrategy } from '../../contracts/work-strategy.ts';
import type { Criterion } from '../../contracts/features/work.ts';

export interface WorkState {
  readonly sessionId: string;
  readonly startedAtMs: number;
  readonly started: EventBodies['work.started'];
  readonly copies: ReadonlyMap<number, EventBodies['work.copied']>;
  readonly attempts: readonly EventBodies['work.attempted'][];
  readonly checks: readonly EventBodies['work.checked'][];
  readonly chosen: EventBodies['work.chosen'] | null;
  readonly finished: EventBodies['work.finished'] | null;
  readonly finishedAtMs: number | null;
}

export type WorkStep =
  | { readonly kind: 'attempt'; readonly attempt: number; readonly message?: string }
  | { readonly kind: 'check'; readonly attempt: number; readonly index: number }
  | { readonly kind: 'ask'; readonly attempt: number; readonly index: number }
  | { readonly kind: 'end'; readonly status: 'pass' | 'fail'; readonly reason: string };

/** Returns null if the work did not begin. */
export function foldWork(taskId: string, events: readonly AnyEvent[]): WorkState | null {
  const copies = new Map<number, EventBodies['work.copied']>();
  const attempts: EventBodies['work.attempted'][] = [];
  const checks: EventBodies['work.checked'][] = [];
  let state: Pick<WorkState, 'sessionId' | 'startedAtMs' | 'started'> | null = null;
  let chosen: WorkState['chosen'] = null;
  let finished: WorkState['finished'] = null;
  let finishedAtMs: number | null = null;
  for (const event of events) {
    if (!('taskId' in event.body) || event.body.taskId !== taskId) continue;
    if (event.type === 'work.started') state = { sessionId: event.sessionId, startedAtMs: event.atMs, started: event.body };
    else if (event.type === 'work.copied') copies.set(event.body.candidate, event.body);
    else if (event.type === 'work.attempted') attempts.push(event.body);
    else if (event.type === 'work.checked') checks.push(event.body);
    else if (event.type === 'work.chosen') chosen = event.body;
    else if (event.type === 'work.finished') [finished, finishedAtMs] = [event.body, event.atMs];
  }
  return state === null ? null : { ...state, copies, attempts, checks, chosen, finished, finishedAtMs };
}

/** The next step of one line of attempts: of a candidate, or of the work itself (null). `custom` is the strategy of another feature. */
export function nextStep(state: WorkState, candidate: number | null, custom: WorkStrategy | null = null): WorkStep {
  const { criteria, plan } = state.started;
  const last = state.attempts.findLast((one) => one.candidate === candidate);
  if (last === undefined) return { kind: 'attempt', attempt: 1 };
  const { attempt } = last;
  if (last.status !== 'done') return { kind: 'end', status: 'fail', reason: `The turn ended: ${endWordsOf(last.status)}.` };
  const done = checksOf(state, candidate, attempt);
  const failed = [...done.values()].some(({ verdict }) => verdict !== 'pass');
  const open = orderOf(criteria).filter((index) => !done.has(index));
  // Rules cost nothing, so all of them are checked even after one failed. Models and people are asked only about work that meets every
  // rule.
  const next = open.find((index) => !failed || isRule(criteria[index]));
  if (next !== undefined) return { kind: isPersons(criteria[next]) ? 'ask' : 'check', attempt, index: next };
  const again =
    custom?.next({ goal: state.started.goal, attempts: workedBefore(state, candidate), triesLeft: plan.tries - attempt }) ?? null;
  if (again !== null && attempt < plan.tries) return { kind: 'attempt', attempt: attempt + 1, message: again.again };
  if (!failed) return { kind: 'end', status: 'pass', reason: 'Every criterion is met.' };
  if (custom === null && attempt < plan.tries) return { kind: 'attempt', attempt: attempt + 1 };
  return {
    kind: 'end',
    status: 'fail',
    reason: attempt === 1 ? 'Not every criterion is met.' : `Not every criterion is met after ${attempt} attempts.`,
  };
}

/** The verdicts on one attempt, by the index of the criterion. */
export function checksOf(state: WorkState, candidate: number | null, attempt: number): ReadonlyMap<number, EventBodies['work.checked']> {
  const own = state.checks.filter((one) => one.candidate === candidate && one.attempt === attempt);
  return new Map(own.map((one) => [one.index, one]));
}

function workedBefore(state: WorkState, candidate: number | null): WorkedAttempt[] {
  return state.attempts
    .filter((one) => one.candidate === candidate)
    .map(({ attempt, text }) => ({ attempt, text, checks: [...checksOf(state, candidate, attempt).values()] }));
}

export function describeCriterion(criterion: Criterion): string {
  if ('file' in criterion) return `the file ${criterion.file} exists`;
  if ('command' in criterion) return `the command \`${criterion.command}\` exits with 0`;
  if ('contains' in criterion) return `${placeOf(criterion.in)} contains "${criterion.contains}"`;
  if ('schema' in criterion) return `${placeOf(criterion.in)} is a JSON value of the given schema`;
  return 'judge' in criterion ? criterion.judge : criterion.person;
}

function placeOf(file: string | undefined): string {
  return file === undefined ? 'the answer' : `the file ${file}`;
}

function isRule(criterion: Criterion | undefined): boolean {
  return criterion !== undefined && !('judge' in criterion) && !isPersons(criterion);
}

function isPersons(criterion: Criterion | undefined): boolean {
  return criterion !== undefined && 'person' in criterion;
}

/** Rules first, then judges, then people; each group in the written order. */
export function orderOf(criteria: readonly Criterion[]): number[] {
  const rank = (index: number): number => (isRule(criteria[index]) ? 0 : isPersons(criteria[index]) ? 2 : 1);
  return criteria.map((_, index) => index).sort((one, other) => rank(one) - rank(other) || one - other);
}
