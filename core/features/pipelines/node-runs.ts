// Runs one node: a turn of an agent in the node's own session, or a review of another node's output. Turns have deduplication keys, so that
// a restart never runs one twice.

import type { EventBodies } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { endWordsOf } from '../../contracts/turn-words.ts';
import { wholeBounds } from '../../contracts/turn-bounds.ts';
import { parseJson } from '../../base/json.ts';
import { judgeFirmly } from '../../mind/asking/asking.ts';
import type { Watching } from '../../runtime/runs/runs.ts';
import { whenTurnEnds, type TurnPort } from '../../runtime/turns/turns.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { checkCitations, type Page } from './citations.ts';
import { ancestorsOf, critiqueFor, fillSlots, lastOf, type PipelineState, type ReviewNode } from './graph.ts';
import type { PipelineNode } from '../../contracts/features/pipelines.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import type { Spine } from '../feature.ts';

export interface NodeDeps extends Pick<Spine, 'log' | 'asking' | 'redactPrompt'> {
  readonly turns: Pick<TurnPort, 'submit' | 'whenResting'>;
  sourcesOf(sessionId: string): readonly TaintSource[];
  defaultModel(): string | null;
}

export interface NodeRun extends Watching {
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
export async function runNode(deps: NodeDeps, run: NodeRun): Promise<Ended> {
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
      // Earlier nodes may have read untrusted content, so their output is marked with its sources.
      untrusted: sourcesAbove(deps, state, node),
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
  const critique = critiqueFor(state, node);
  return critique === '' ? text : `${text}\n\nAn earlier version was reviewed:\n${critique}\n\nDo better where it says "not met".`;
}

export function sessionOf({ sessionId }: Pick<PipelineState, 'sessionId'>, node: string): string {
  return `${sessionId}-${node}`;
}

function sourcesAbove(deps: NodeDeps, state: PipelineState, node: string): TaintSource[] {
  return [...ancestorsOf(state.started.graph.nodes, node)].flatMap((one) => [...deps.sourcesOf(sessionOf(state, one))]);
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
  const parsed = parseJson(args);
  const value = parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && 'url' in parsed.value ? parsed.value.url : '';
  return typeof value === 'string' ? value : '';
}
