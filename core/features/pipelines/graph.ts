// Folds the state of a pipeline run from its events, and decides which nodes run next. Pure, so that a restart makes the same decisions.

import type { AnyEvent, EventBodies } from '../../contracts/events.ts';
import type { PipelineFile, PipelineNode } from '../../contracts/features/pipelines.ts';

type Finished = EventBodies['pipeline.node_finished'];

export interface PipelineState {
  readonly sessionId: string;
  readonly startedAtMs: number;
  readonly started: EventBodies['pipeline.started'];
  /** The rounds of each node that have ended, oldest first. */
  readonly ended: ReadonlyMap<string, readonly Finished[]>;
  readonly begun: readonly EventBodies['pipeline.node_started'][];
  readonly finished: EventBodies['pipeline.finished'] | null;
  readonly finishedAtMs: number | null;
}

export type ReviewNode = Extract<PipelineNode, { review: string }>;

/** Returns null if the run did not begin. */
export function foldPipeline(events: readonly AnyEvent[]): PipelineState | null {
  const ended = new Map<string, Finished[]>();
  const begun: EventBodies['pipeline.node_started'][] = [];
  let head: Pick<PipelineState, 'sessionId' | 'startedAtMs' | 'started'> | null = null;
  let finished: PipelineState['finished'] = null;
  let finishedAtMs: number | null = null;
  for (const event of events) {
    if (event.type === 'pipeline.started') head = { sessionId: event.sessionId, startedAtMs: event.atMs, started: event.body };
    else if (event.type === 'pipeline.node_started') begun.push(event.body);
    else if (event.type === 'pipeline.node_finished') ended.set(event.body.node, [...(ended.get(event.body.node) ?? []), event.body]);
    else if (event.type === 'pipeline.finished') [finished, finishedAtMs] = [event.body, event.atMs];
  }
  return head === null ? null : { ...head, ended, begun, finished, finishedAtMs };
}

/** The nodes that can run now, with their round numbers, from 1. */
export function readyNodes(state: PipelineState): { readonly node: string; readonly round: number }[] {
  const { nodes } = state.started.graph;
  const wanted = roundsWanted(state);
  const isUpToDate = (node: string): boolean => roundsOf(state, node) >= (wanted.get(node) ?? 1);
  return Object.entries(nodes).flatMap(([node, form]) =>
    !isUpToDate(node) && dependenciesOf(form).every(isUpToDate) ? [{ node, round: roundsOf(state, node) + 1 }] : [],
  );
}

/** Each review below its threshold makes its `redo` nodes, and all nodes that follow from them, run once more. */
function roundsWanted(state: PipelineState): ReadonlyMap<string, number> {
  const { nodes } = state.started.graph;
  const wanted = new Map(Object.keys(nodes).map((node) => [node, 1]));
  for (const [node, form] of Object.entries(nodes)) {
    if (!isReview(form) || form.redo.length === 0) continue;
    const refusals = (state.ended.get(node) ?? [])
      .filter(({ status, score = 0 }) => status === 'done' && score < form.least)
      .slice(0, form.times);
    if (refusals.length === 0) continue;
    for (const stale of withFollowers(nodes, form.redo)) wanted.set(stale, (wanted.get(stale) ?? 1) + refusals.length);
  }
  return wanted;
}

export function roundsOf(state: PipelineState, node: string): number {
  return state.ended.get(node)?.length ?? 0;
}

export function lastOf(state: PipelineState, node: string): Finished | undefined {
  return state.ended.get(node)?.at(-1);
}

/** The latest reviews that sent this node back. */
export function criticsOf(state: PipelineState, node: string): string[] {
  const { nodes } = state.started.graph;
  return Object.entries(nodes).flatMap(([name, form]) => {
    const last = lastOf(state, name);
    const concerns = isReview(form) && withFollowers(nodes, form.redo).has(node);
    return concerns && last?.status === 'done' && (last.score ?? 0) < form.least ? [name] : [];
  });
}

export function isReview(form: PipelineNode): form is ReviewNode {
  return 'review' in form;
}

/** The nodes that must end before this node begins, including those whose output it uses. */
export function dependenciesOf(form: PipelineNode): string[] {
  const taken = isReview(form) ? [form.review] : slotsIn(form.ask).filter((slot) => slot !== 'input');
  return [...new Set([...form.after, ...(form.when === undefined ? [] : [form.when.node]), ...taken])];
}

/** The mistakes that the schema cannot detect: unknown names, cycles, and reviews without a criterion. */
export function graphFaults({ nodes, output }: PipelineFile): string[] {
  const faults = Object.hasOwn(nodes, output) ? [] : [`output names ${output}, which is not a node`];
  for (const [node, form] of Object.entries(nodes)) {
    const named = [...dependenciesOf(form), ...(isReview(form) ? form.redo : [])];
    faults.push(...named.filter((one) => !Object.hasOwn(nodes, one)).map((one) => `${node} names ${one}, which is not a node`));
    const above = ancestorsOf(nodes, node);
    if (above.has(node)) faults.push(`${node} waits for itself`);
    if (isReview(form) && form.rubric === undefined && !form.citations) faults.push(`${node} needs a rubric, or citations`);
    if (isReview(form))
      faults.push(
        ...form.redo
          .filter((one) => Object.hasOwn(nodes, one) && !above.has(one))
          .map((one) => `${node} redoes ${one}, which is not a node before it`),
      );
  }
  return faults;
}

function slotsIn(text: string): string[] {
  return [...text.matchAll(/\{\{\s*([\w-]+)\s*\}\}/g)].map(([, slot = '']) => slot);
}

export function fillSlots(text: string, valueOf: (slot: string) => string): string {
  return text.replaceAll(/\{\{\s*([\w-]+)\s*\}\}/g, (_, slot: string) => valueOf(slot));
}

export function ancestorsOf(nodes: PipelineFile['nodes'], node: string): Set<string> {
  const found = new Set<string>();
  const todo = [node];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const form = nodes[next];
    for (const one of form === undefined ? [] : dependenciesOf(form)) {
      if (found.has(one)) continue;
      found.add(one);
      todo.push(one);
    }
  }
  return found;
}

function withFollowers(nodes: PipelineFile['nodes'], from: readonly string[]): Set<string> {
  return new Set(Object.keys(nodes).filter((node) => from.includes(node) || from.some((one) => ancestorsOf(nodes, node).has(one))));
}
