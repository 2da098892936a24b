// The view of a piece of work that people see: its state, each criterion with its evidence, and what it waits for. Reads only; decides
// nothing.

import type { WorkView } from '../../contracts/features/work.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { errorOfTurn, sumSpent, type RunFigures, type WaitsFor } from '../../runtime/runs/runs.ts';
import { checksOf, describeCriterion, type WorkState, type WorkStep } from './fold.ts';

interface ViewDeps {
  readonly log: Pick<SessionLog, 'reads' | 'index'>;
  /** Null if the next step is unknown. */
  readonly next: (candidate: number | null) => WorkStep | null;
}

export function viewWork(state: WorkState, deps: ViewDeps, waitsFor: WaitsFor): WorkView {
  const { log } = deps;
  const { started, attempts, chosen, finished } = state;
  const candidate = chosen?.candidate ?? (started.plan.kind === 'candidates' ? 1 : null);
  const last = attempts.findLast((one) => one.candidate === candidate);
  const spent = spentBy(state, log);
  return {
    taskId: started.taskId,
    sessionId: state.sessionId,
    goal: started.goal,
    status: finished?.status ?? openStatus(state, deps, waitsFor),
    strategy: started.plan.kind,
    attempts: last?.attempt ?? 0,
    candidates: Array.from({ length: started.plan.candidates }, (_, index) => viewCandidate(state, index + 1)),
    chosen: chosen?.candidate ?? null,
    criteria: viewCriteria(state, candidate, waitsFor),
    text: last?.text ?? '',
    reason: finished?.reason ?? '',
    ...whyItFailed(state, log, last),
    waitsFor: [...waitsFor],
    costUsd: spent.costUsd,
    tokens: spent.tokens,
    startedAtMs: state.startedAtMs,
    finishedAtMs: state.finishedAtMs,
  };
}

function whyItFailed(
  { finished }: WorkState,
  log: ViewDeps['log'],
  last: WorkState['attempts'][number] | undefined,
): Pick<WorkView, 'error'> {
  const error = finished?.status === 'fail' ? errorOfTurn(log, last ?? null) : undefined;
  return error === undefined ? {} : { error };
}

/** The status of unfinished work. With several candidates, the least advanced one counts. */
function openStatus({ sessionId, started: { plan } }: WorkState, { log, next }: ViewDeps, waitsFor: WaitsFor): WorkView['status'] {
  if (waitsFor.length > 0) return 'waiting';
  const lines = plan.candidates === 0 ? [null] : Array.from({ length: plan.candidates }, (_, index) => index + 1);
  const trying = lines.filter((candidate) => next(candidate)?.kind === 'attempt');
  if (trying.length === 0) return 'checking';
  const begun = trying.some((candidate) => {
    const status = log.index.lastTurn(candidate === null ? sessionId : `${sessionId}-${candidate}`)?.status ?? 'queued';
    return status !== 'queued';
  });
  return begun ? 'working' : 'queued';
}

function viewCriteria(state: WorkState, candidate: number | null, waitsFor: WaitsFor): WorkView['criteria'] {
  const last = state.attempts.findLast((one) => one.candidate === candidate);
  const checks = last === undefined ? null : checksOf(state, candidate, last.attempt);
  return state.started.criteria.map((criterion, index) => {
    const check = checks?.get(index);
    if (check !== undefined) return { text: check.text, verdict: check.verdict, evidence: check.evidence };
    const text = describeCriterion(criterion);
    const isWaiting = waitsFor.some((one) => one.approvalId === null && one.text === text);
    return { text, verdict: isWaiting ? 'waiting' : 'unchecked', evidence: '' };
  });
}

export function spentBy({ attempts, checks }: WorkState, log: Pick<SessionLog, 'reads'>): RunFigures {
  return sumSpent(log, attempts, checks);
}

function viewCandidate({ attempts, chosen, checks }: WorkState, candidate: number): WorkView['candidates'][number] {
  const last = attempts.findLast((one) => one.candidate === candidate);
  if (last === undefined) return { candidate, sessionId: null, status: 'working' };
  const own = checks.filter((one) => one.candidate === candidate && one.attempt === last.attempt);
  const isMet = last.status === 'done' && own.every(({ verdict }) => verdict === 'pass');
  return { candidate, sessionId: last.sessionId, status: chosen?.candidate === candidate ? 'chosen' : isMet ? 'met' : 'not met' };
}
