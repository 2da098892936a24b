// Drives pipelines: starts all nodes that can run, in parallel, and records the end of each before its followers begin. All state is in the
// log, so that a restart continues with the interrupted nodes.

import type { IdSource } from '../../base/ids.ts';
import { valueAt, jsonIn } from '../../base/json.ts';
import type { EventBodies, EventType } from '../../contracts/events.ts';
import { pipelineEvents, type PipelineFile, type PipelineNode, type PipelineView } from '../../contracts/features/pipelines.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { endWordsOf } from '../../contracts/turn-words.ts';
import { judgeFirmly } from '../../mind/asking/asking.ts';
import {
  errorOfTurn,
  markOf,
  restOf,
  type RunFigures,
  Runs,
  type RunsDeps,
  sumSpent,
  type WaitsFor,
  type Watching,
} from '../../runtime/runs/runs.ts';
import { type TurnPort, whenTurnEnds } from '../../runtime/turns/turns.ts';
import type { ToolHost } from '../../hands/tools/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { Spine } from '../feature.ts';
import { checkCitations, type Page } from './citations.ts';
import {
  ancestorsOf,
  criticsOf,
  dependenciesOf,
  fillSlots,
  foldPipeline,
  isReview,
  lastOf,
  type PipelineState,
  readyNodes,
  type ReviewNode,
  roundsOf,
} from './graph.ts';

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
  start(name: string, graph: PipelineFile, input: string, { untrusted, ...from }: StartedBy): string {
    const pipelineId = this.#deps.ids.next('pip');
    this.runs.begin(pipelineId, `pipeline-${pipelineId}`, [
      { type: 'session.created', body: { title: `Pipeline ${name}`, agentId: 'main', channel: ownChannels.pipeline, forkedFrom: null } },
      ...markOf(untrusted),
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

// Runs one node: a turn of an agent in the node's own session, or a review of another node's output. Turns have deduplication keys, so that
// a restart never runs one twice.

interface StartedBy {
  readonly channel: string;
  readonly by: string;
  /** The sources of a file that an agent wrote after it had read untrusted content. */
  readonly untrusted: readonly TaintSource[];
}

interface NodeDeps extends Pick<Spine, 'log' | 'asking' | 'redactPrompt'> {
  readonly turns: Pick<TurnPort, 'submit' | 'whenResting'>;
  sourcesOf(sessionId: string): readonly TaintSource[];
  defaultModel(): string | null;
}

interface NodeRun extends Watching {
  readonly state: PipelineState;
  readonly node: string;
  readonly round: number;
  /** The remaining budget of the run. */
  readonly left: { readonly usd: number | null; readonly tokens: number | null };
  record(body: EventBodies['pipeline.node_started']): void;
}

type Ended = Omit<EventBodies['pipeline.node_finished'], 'pipelineId' | 'node' | 'round'>;

const MINUTE_MS = 60_000;
const nothing = '(none)';

/** Fails with `cancelled` once the signal aborts, and with the errors of sending a message if no turn can be started. */
async function runNode(deps: NodeDeps, run: NodeRun): Promise<Ended> {
  const form = run.state.started.graph.nodes[run.node];
  if (form === undefined || !isWanted(run.state, form)) return { status: 'skipped', text: '', turnId: null };
  return 'review' in form ? review(deps, form, run) : ask(deps, form, run);
}

function isWanted(state: PipelineState, { when }: PipelineNode): boolean {
  if (when === undefined) return true;
  const text = lastOf(state, when.node)?.text ?? '';
  return when.contains === undefined ? !text.includes(when['not-contains'] ?? '') : text.includes(when.contains);
}

async function ask(deps: NodeDeps, form: Exclude<PipelineNode, ReviewNode>, run: NodeRun): Promise<Ended> {
  const { state, node, round } = run;
  const { pipelineId, channel, by } = state.started;
  const sessionId = sessionOf(state, node);
  const agentId = form.agent ?? 'main';
  const bounds = {
    ...wholeBounds,
    ...run.left,
    tools: form.tools ?? null,
    steps: form.steps ?? null,
    turnMs: form.minutes === undefined ? null : Math.round(form.minutes * MINUTE_MS),
  };
  for (let attempt = 1; ; attempt++) {
    const created = { title: `Pipeline: ${node}`, agentId, channel: ownChannels.pipeline, forkedFrom: null };
    const begun = deps.turns.submit({
      sessionId,
      agentId,
      channel,
      sender: by,
      text: textFor(state, form.ask, node),
      // After a crash, the restart finds the turn that was begun by this key.
      dedupeKey: `${pipelineId}:${node}:${round}:${attempt}`,
      before: deps.log.index.session(sessionId) === null ? [{ type: 'session.created', body: created }] : [],
      // The file of the graph may be marked. Earlier nodes may have read untrusted content, so their output is marked with its sources.
      untrusted: [...deps.sourcesOf(state.sessionId), ...sourcesAbove(deps, state, node)],
      bounds,
      ...(form.model === undefined ? {} : { model: form.model }),
    });
    run.record({ pipelineId, node, round, attempt, ...begun });
    const end = await whenTurnEnds(deps, begun, run);
    if (end.status === 'done') return { status: 'done', text: end.text, turnId: begun.turnId };
    if (end.status !== 'failed' || attempt > form.retries) {
      return {
        status: 'failed',
        text: end.text,
        turnId: begun.turnId,
        error: end.error?.message ?? `The turn ended: ${endWordsOf(end.status)}.`,
      };
    }
  }
}

async function review(deps: NodeDeps, form: ReviewNode, { state, signal }: NodeRun): Promise<Ended> {
  const reviewed = lastOf(state, form.review);
  const work = reviewed?.text ?? '';
  const { share, found } = form.citations ? shareOfCitations(deps, state, work) : { share: 1, found: [] };
  if (form.rubric === undefined) return { status: 'done', text: found.join('\n'), turnId: null, score: share };
  const model = form.model ?? deps.defaultModel();
  if (model === null) return { status: 'failed', text: '', turnId: null, error: 'There is no model to review with.' };
  const place = { sessionId: sessionOf(state, form.review), turnId: reviewed?.turnId ?? '', continues: [] };
  const judged = await judgeFirmly(deps.asking, { model, place, goal: state.started.input, rubric: form.rubric, work }, signal);
  const spent = judged.spent === undefined ? {} : { model, ...judged.spent };
  if ('error' in judged)
    return { status: 'failed', text: '', turnId: null, error: `There is no usable judgement: ${judged.error}`, ...spent };
  const points = judged.points.map(({ point, met, why }) => `${met ? 'met' : 'not met'}: ${point} (${why})`);
  const text = deps.redactPrompt([...points, ...found].join('\n'));
  return { status: 'done', text, turnId: null, score: Math.min(share, judged.score), ...spent };
}

function shareOfCitations(
  deps: NodeDeps,
  state: PipelineState,
  work: string,
): { readonly share: number; readonly found: readonly string[] } {
  const { cited, valid, faults } = checkCitations(work, pagesFetched(deps.log, state));
  return { share: cited === 0 ? 1 : valid / cited, found: faults.map((fault) => `not met: ${fault}`) };
}

function textFor(state: PipelineState, template: string, node: string): string {
  const text = fillSlots(template, (slot) => (slot === 'input' ? state.started.input : lastOf(state, slot)?.text) || nothing);
  const critique = criticsOf(state, node)
    .map((critic) => lastOf(state, critic)?.text)
    .join('\n');
  return critique === '' ? text : `${text}\n\nAn earlier version was reviewed:\n${critique}\n\nDo better where it says "not met".`;
}

function sessionOf({ sessionId }: Pick<PipelineState, 'sessionId'>, node: string): string {
  return `${sessionId}-${node}`;
}

function sourcesAbove(deps: NodeDeps, state: PipelineState, node: string): TaintSource[] {
  const { nodes } = state.started.graph;
  // Findings quote the work they are about.
  const above = new Set([node, ...criticsOf(state, node)].flatMap((one) => [...ancestorsOf(nodes, one)]));
  return [...above].flatMap((one) => [...deps.sourcesOf(sessionOf(state, one))]);
}

/** The pages that the nodes of this run fetched, as the models saw them. */
function pagesFetched(log: SessionLog, state: PipelineState): Page[] {
  const sessions = new Set(state.begun.map(({ sessionId }) => sessionId));
  return [...sessions].flatMap((sessionId) => {
    const urls = new Map<string, string>();
    const pages: Page[] = [];
    for (const event of log.reads.iterateSession(sessionId)) {
      if (event.type === 'tool.requested' && event.body.tool === 'web_fetch') urls.set(event.body.callId, urlIn(event.body.args));
      const url = event.type === 'tool.finished' && event.body.outcome === 'ok' ? urls.get(event.body.callId) : undefined;
      if (event.type === 'tool.finished' && url !== undefined) pages.push({ url, text: event.body.forModel });
    }
    return pages;
  });
}

function urlIn(args: string): string {
  const value = valueAt(jsonIn(args), 'url');
  return typeof value === 'string' ? value : '';
}
