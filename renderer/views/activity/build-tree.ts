// A turn as a tree: its steps (each starts with the pack), their phases, and in them model requests and tool calls with all decisions about
// them. Contains codes only; the view adds the texts. Pure.

import type { AnyEvent, EventType, Phase } from '../../../core/contracts/events.ts';
import type { CallView, TurnView } from '../../../core/contracts/turn-view.ts';
import type { EventLine } from '../../lib/event-line.ts';
import { outcomeLooks } from '../../lib/outcome-looks.ts';
import { spansOf, type Span } from './turn-axis.ts';

export type NodeTone = EventLine['tone'];

/** The input of a tree, except its events. */
interface Told {
  readonly turn: TurnView;
  readonly spans: ReadonlyMap<number, Span>;
  readonly lines: ReadonlyMap<number, Pick<EventLine, 'tone'>>;
}

interface NodeBase extends Span {
  readonly key: string;
  readonly tone: NodeTone;
  readonly children: readonly TreeNode[];
}

export type TreeNode = NodeBase &
  (
    | { readonly kind: 'turn' }
    /** 0 contains everything before the first step. */
    | { readonly kind: 'step'; readonly step: number }
    | { readonly kind: 'phase'; readonly phase: Phase | null }
    | { readonly kind: 'model'; readonly model: string }
    | { readonly kind: 'call'; readonly tool: string; readonly args: string; readonly state: CallView['state'] }
    | { readonly kind: 'event'; readonly event: AnyEvent }
  );

export interface TreeRow {
  readonly node: TreeNode;
  readonly level: number;
  readonly place: number;
  readonly setSize: number;
  /** Null if the node has no children. */
  readonly isOpen: boolean | null;
}

interface Step {
  readonly number: number;
  readonly events: AnyEvent[];
}

export function buildTree(events: readonly AnyEvent[], turn: TurnView, lines: Told['lines']): TreeNode {
  const told = { turn, lines, spans: spansOf(events, turn) };
  const steps = stepsOf(events).map((step) => stepNode(step, told));
  return parent('turn', { kind: 'turn' }, steps);
}

/** The visible rows in order; `open` contains the keys of expanded nodes. */
export function rowsOf(root: TreeNode, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (node: TreeNode, level: number, place: number, setSize: number): void => {
    const isOpen = node.children.length === 0 ? null : open.has(node.key);
    rows.push({ node, level, place, setSize, isOpen });
    if (isOpen === true) node.children.forEach((child, index) => visit(child, level + 1, index + 1, node.children.length));
  };
  visit(root, 1, 1, 1);
  return rows;
}

/** The tree of matches: matching nodes with everything below and above them. Null if nothing matches. */
export function pruneTree(node: TreeNode, fits: (event: AnyEvent) => boolean): TreeNode | null {
  if (node.kind === 'event') return fits(node.event) ? node : null;
  const children = node.children.flatMap((child) => pruneTree(child, fits) ?? []);
  return children.length === 0 ? null : { ...node, children };
}

export function keysOf(node: TreeNode, isWanted: (node: TreeNode) => boolean): string[] {
  return [...(node.children.length > 0 && isWanted(node) ? [node.key] : []), ...node.children.flatMap((child) => keysOf(child, isWanted))];
}

function stepsOf(events: readonly AnyEvent[]): Step[] {
  const steps: Step[] = [];
  for (const event of events) {
    const current = steps.at(-1);
    const begins = event.type === 'brain.decided' && (current === undefined || current.number === 0 || event.body.intent === 'pack');
    if (current === undefined || begins) steps.push({ number: begins ? (current?.number ?? 0) + 1 : 0, events: [event] });
    else current.events.push(event);
  }
  return steps;
}

function stepNode({ number, events }: Step, told: Told): TreeNode {
  const groups = groupsOf(events);
  const phases: { phase: Phase | null; nodes: TreeNode[] }[] = [];
  let phase: Phase | null = null;
  for (const event of events) {
    phase = event.phase ?? phase;
    const group = groups.get(event.seq);
    const node = group === undefined ? eventNode(event, told) : group === 'inside' ? null : groupNode(group, told);
    if (node === null) continue;
    const last = phases.find((one) => one.phase === phase);
    if (last === undefined) phases.push({ phase, nodes: [node] });
    else last.nodes.push(node);
  }
  const children = phases.map((one) => parent(`${number}/${one.phase ?? 'none'}`, { kind: 'phase', phase: one.phase }, one.nodes));
  // A step whose only phase is unnamed needs no level for it.
  const [only] = children;
  const below = children.length === 1 && only?.kind === 'phase' && only.phase === null ? only.children : children;
  return parent(`step ${number}`, { kind: 'step', step: number }, below);
}

/** Maps events to their group: the group's main event to the whole group, the others to 'inside'. */
function groupsOf(events: readonly AnyEvent[]): Map<number, AnyEvent[] | 'inside'> {
  const byKey = new Map<string, AnyEvent[]>();
  for (const event of events) {
    const key = groupKey(event);
    if (key === null) continue;
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [event]);
    else group.push(event);
  }
  const places = new Map<number, AnyEvent[] | 'inside'>();
  for (const group of byKey.values()) {
    // A call is placed where it ran; a call that never ran, where it was decided.
    const home = group.find(({ type }) => type === 'tool.requested') ?? group[0];
    for (const { seq } of group) places.set(seq, seq === home?.seq ? group : 'inside');
  }
  return places;
}

const requestTypes: ReadonlySet<string> = new Set<EventType>(['model.requested', 'model.retried', 'model.finished', 'model.failed']);

function groupKey(event: AnyEvent): string | null {
  if (requestTypes.has(event.type) && 'requestId' in event.body) return `model ${event.body.requestId}`;
  const callId = callIdOf(event);
  return callId === null ? null : `call ${callId}`;
}

/** The call that an event is about; untrusted content that arrived with a call is shown next to it. */
function callIdOf(event: AnyEvent): string | null {
  if (event.type === 'approval.requested') return event.body.approval.callId;
  return 'callId' in event.body && event.type !== 'taint.marked' ? event.body.callId : null;
}

function groupNode(group: readonly AnyEvent[], told: Told): TreeNode {
  const children = group.map((event) => eventNode(event, told));
  const ran = group.findLast((event) => event.type === 'tool.finished' || event.type === 'model.finished' || event.type === 'model.failed');
  const span = (ran === undefined ? undefined : told.spans.get(ran.seq)) ?? spanOf(children);
  const base = { key: `group ${group[0]?.seq ?? 0}`, children, ...span };
  const callId = group.map(callIdOf).find((id) => id !== null) ?? null;
  if (callId === null) {
    const asked = group.find((event) => event.type === 'model.requested');
    return { ...base, kind: 'model', model: asked?.body.model ?? '', tone: worst(children) };
  }
  const call = told.turn.calls[callId];
  return {
    ...base,
    kind: 'call',
    tool: call?.tool ?? '',
    args: call?.args ?? '',
    state: call?.state ?? 'proposed',
    tone: toneOfCall(call, children),
  };
}

/** The tone of the final outcome: an approval that was given is no longer a warning. */
function toneOfCall(call: CallView | undefined, children: readonly TreeNode[]): NodeTone {
  if (call === undefined || call.endedAtMs === null) return children.at(-1)?.tone ?? 'plain';
  const { tone } = outcomeLooks[call.state];
  return call.verified?.ok === false ? 'bad' : tone === 'quiet' ? 'plain' : tone;
}

function eventNode(event: AnyEvent, { spans, lines }: Told): TreeNode {
  const span = spans.get(event.seq) ?? { fromMs: event.atMs, toMs: event.atMs };
  return { key: `event ${event.seq}`, kind: 'event', event, tone: lines.get(event.seq)?.tone ?? 'plain', children: [], ...span };
}

type Form = TreeNode extends infer N ? (N extends NodeBase ? Omit<N, keyof NodeBase> : never) : never;

function parent(key: string, form: Form, children: readonly TreeNode[]): TreeNode {
  return { ...form, key, children, tone: children.some(({ tone }) => tone === 'bad') ? 'bad' : 'plain', ...spanOf(children) };
}

function worst(children: readonly TreeNode[]): NodeTone {
  return children.find(({ tone }) => tone === 'bad')?.tone ?? children.find(({ tone }) => tone === 'wait')?.tone ?? 'plain';
}

function spanOf(nodes: readonly TreeNode[]): Span {
  return {
    fromMs: nodes.reduce((first, { fromMs }) => Math.min(first, fromMs), Number.POSITIVE_INFINITY),
    toMs: nodes.reduce((last, { toMs }) => Math.max(last, toMs), 0),
  };
}
