// The view of a pipeline run that people see: its nodes and its result. Reads only; decides nothing.

import type { PipelineView } from '../../contracts/features/pipelines.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { errorOfTurn, sumSpent, type RunFigures, type WaitsFor } from '../../runtime/runs/runs.ts';
import { dependenciesOf, isReview, roundsOf, type PipelineState } from './graph.ts';
import { sessionOf } from './node-runs.ts';

export function viewPipeline(state: PipelineState, log: Pick<SessionLog, 'reads'>, waitsFor: WaitsFor): PipelineView {
  const { started, finished } = state;
  const failed = finished?.status === 'failed' ? state.begun.find(({ turnId }) => failedTurns(state).has(turnId)) : undefined;
  const error = errorOfTurn(log, failed ?? null);
  const scores = [...state.ended.values()].flat().flatMap(({ score }) => score ?? []);
  return {
    pipelineId: started.pipelineId,
    sessionId: state.sessionId,
    name: started.name,
    status: finished?.status ?? (waitsFor.length > 0 ? 'waiting' : 'running'),
    text: finished?.text ?? '',
    reason: finished?.reason ?? '',
    ...(error === undefined ? {} : { error }),
    quality: scores.at(-1) ?? null,
    nodes: Object.entries(started.graph.nodes).map(([node, form]) => ({
      node,
      follows: dependenciesOf(form),
      redo: isReview(form) ? [...form.redo] : [],
      ...standingOf(state, node),
      sessionId: isReview(form) ? null : sessionOf(state, node),
    })),
    // Only calls in its turns need approval. A pipeline itself asks nothing.
    waitsFor: waitsFor.flatMap(({ approvalId, text }) => (approvalId === null ? [] : { approvalId, text })),
    ...spentBy(state, log),
    startedAtMs: state.startedAtMs,
    finishedAtMs: state.finishedAtMs,
  };
}

function failedTurns({ ended }: PipelineState): ReadonlySet<string | null> {
  return new Set([...ended.values()].flat().flatMap(({ status, turnId }) => (status === 'failed' ? [turnId] : [])));
}

export function spentBy({ begun, ended }: PipelineState, log: Pick<SessionLog, 'reads'>): RunFigures {
  return sumSpent(log, begun, [...ended.values()].flat());
}

function standingOf(state: PipelineState, node: string): Pick<PipelineView['nodes'][number], 'status' | 'rounds' | 'text'> {
  const rounds = roundsOf(state, node);
  const isRunning = state.finished === null && state.begun.some((one) => one.node === node && one.round > rounds);
  const last = state.ended.get(node)?.at(-1);
  return { status: isRunning ? 'running' : (last?.status ?? 'open'), rounds, text: last?.text ?? '' };
}
