// Drives pipelines: starts all nodes that can run, in parallel, and records the end of each before its followers begin. All state is in the
// log, so that a restart continues with the interrupted nodes.

import type { IdSource } from '../../base/ids.ts';
import type { EventType } from '../../contracts/events.ts';
import { pipelineEvents, type PipelineFile, type PipelineView } from '../../contracts/features/pipelines.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import {
  restOf,
  Runs,
  type RunsDeps,
  type Watching,
  errorOfTurn,
  sumSpent,
  type RunFigures,
  type WaitsFor,
} from '../../runtime/runs/runs.ts';
import { foldPipeline, lastOf, readyNodes, type PipelineState, dependenciesOf, isReview, roundsOf } from './graph.ts';
import { runNode, type NodeDeps, sessionOf } from './node-runs.ts';
import type { ToolHost } from '../../hands/tools/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface PipelineDeskDeps extends NodeDeps, RunsDeps {
  readonly ids: IdSource;
  readonly tools: Pick<ToolHost, 'list'>;
}

export class PipelineDesk {
  readonly #deps: PipelineDeskDeps;
  readonly runs: Runs<PipelineState, PipelineView>;

  constructor(deps: PipelineDeskDeps) {
    this.#deps = deps;
    this.runs = new Runs(deps, {
      noun: 'run',
      hint: 'See: trayclaw pipeline list',
      types: Object.keys(pipelineEvents) as EventType[],
      fold: (_, events) => foldPipeline(events),
      view: (state, waits) => viewPipeline(state, deps, waits),
      drive: (pipelineId, watching) => this.#drive(pipelineId, watching),
    });
  }

  /** Fails with panic_engaged or a store error. */
  start(name: string, graph: PipelineFile, input: string, from: { readonly channel: string; readonly by: string }): string {
    const pipelineId = this.#deps.ids.next('pip');
    this.runs.begin(pipelineId, `pipeline-${pipelineId}`, [
      { type: 'session.created', body: { title: `Pipeline ${name}`, agentId: 'main', channel: ownChannels.pipeline, forkedFrom: null } },
      { type: 'pipeline.started', body: { pipelineId, name, graph, input, ...from } },
    ]);
    return pipelineId;
  }

  /** Runs until no node is ready or running. The output is final then. */
  async #drive(pipelineId: string, watching: Watching): Promise<void> {
    const running = new Map<string, Promise<void>>();
    try {
      for (;;) {
        const state = this.runs.state(pipelineId);
        if (state.finished !== null) return;
        const failed = [...state.ended.values()].flatMap((rounds) => rounds.filter(({ status }) => status === 'failed'))[0];
        if (failed !== undefined) return this.#end(state, 'failed', `The node ${failed.node} failed: ${failed.error ?? ''}`);
        watching.signal.throwIfAborted();
        for (const { node, round } of readyNodes(state)) {
          if (running.has(node)) continue;
          const ended = this.#runNode(state, { node, round, ...watching }).finally(() => running.delete(node));
          running.set(node, ended);
        }
        if (running.size === 0) return this.#end(state, 'done', '');
        await Promise.race(running.values());
      }
    } finally {
      // If one node fails, waits for the others, so that no rejection goes unhandled.
      await Promise.allSettled(running.values());
    }
  }

  async #runNode(state: PipelineState, run: Watching & { readonly node: string; readonly round: number }): Promise<void> {
    const { pipelineId, graph } = state.started;
    const { node, round } = run;
    const ended = await runNode(this.#deps, {
      ...run,
      state,
      left: restOf(graph.budget, spentBy(state, this.#deps.log)),
      record: (body) => this.runs.tell(state, pipelineId, [{ type: 'pipeline.node_started', body }]),
    });
    this.runs.tell(state, pipelineId, [{ type: 'pipeline.node_finished', body: { pipelineId, node, round, ...ended } }]);
  }

  #end(state: PipelineState, status: 'done' | 'failed', reason: string): void {
    const { pipelineId, graph } = state.started;
    const text = lastOf(state, graph.output)?.text ?? '';
    this.runs.tell(state, pipelineId, [{ type: 'pipeline.finished', body: { pipelineId, status, text, reason } }], true);
  }
}

/** The view of a pipeline run that people see: its nodes and its result. Reads only; decides nothing. */
function viewPipeline(state: PipelineState, { log, tools }: Pick<PipelineDeskDeps, 'log' | 'tools'>, waitsFor: WaitsFor): PipelineView {
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
    ...lacksOf(state, tools),
    ...spentBy(state, log),
    startedAtMs: state.startedAtMs,
    finishedAtMs: state.finishedAtMs,
  };
}

function lacksOf({ started, finished }: PipelineState, tools: Pick<ToolHost, 'list'>): Pick<PipelineView, 'lacks'> {
  if (finished !== null) return {};
  const there = new Set(tools.list().map(({ name }) => name));
  const named = Object.values(started.graph.nodes).flatMap((form) => (isReview(form) ? [] : (form.tools ?? [])));
  const lacks = [...new Set(named)].filter((name) => !there.has(name));
  return lacks.length === 0 ? {} : { lacks };
}

function failedTurns({ ended }: PipelineState): ReadonlySet<string | null> {
  return new Set([...ended.values()].flat().flatMap(({ status, turnId }) => (status === 'failed' ? [turnId] : [])));
}

function spentBy({ begun, ended }: PipelineState, log: Pick<SessionLog, 'reads'>): RunFigures {
  return sumSpent(log, begun, [...ended.values()].flat());
}

function standingOf(state: PipelineState, node: string): Pick<PipelineView['nodes'][number], 'status' | 'rounds' | 'text'> {
  const rounds = roundsOf(state, node);
  const isRunning = state.finished === null && state.begun.some((one) => one.node === node && one.round > rounds);
  const last = state.ended.get(node)?.at(-1);
  return { status: isRunning ? 'running' : (last?.status ?? 'open'), rounds, text: last?.text ?? '' };
}
