// One turn in the form that people see, folded from its events in turn-view-fold.ts and rendered by the window, the command line, files and
// answers. Plain mutable objects, so that the same fold runs in the runtime and under the window's runes. Types only, so that the window
// needs no schemas.

import type { FileImage } from './checkpoints.ts';
import type { ErrorBody } from './errors.ts';
import type { EventBodies, Phase, TurnStatus } from './events.ts';
import type { HelperEnd } from './features/helpers.ts';
import type { Usage } from './llm.ts';
import type { RouteNote } from './model-routes.ts';
import type { Approval } from './policy.ts';
import type { ArtifactRef, TaintSource, ToolOutcome } from './tools.ts';

export type CallState = ToolOutcome | 'proposed' | 'waiting' | 'running';

export type CallDecision = Readonly<Pick<EventBodies['policy.decided'], 'decision' | 'ruleId' | 'reason' | 'facts' | 'grantId'>>;

export interface WrittenFile {
  readonly path: string;
  readonly before: FileImage;
  /** Null while the call runs, or if the state afterwards is unknown. */
  readonly after: FileImage | null;
}

export interface CallView {
  readonly callId: string;
  tool: string;
  args: string;
  state: CallState;
  decision: CallDecision | null;
  /** The newest approval of this call, with its answer. */
  approval: Approval | null;
  /** For a denial: the reason, for the agent. */
  denial: string | null;
  /** The original arguments of the model, if a person changed them; otherwise null. */
  asked: string | null;
  decidedBy: string | null;
  startedAtMs: number | null;
  endedAtMs: number | null;
  tookMs: number | null;
  forUser: string;
  forModel: string;
  /** The newest part of the live output. Recorded only for a call that a crash interrupted. */
  output: string;
  artifacts: readonly ArtifactRef[];
  verified: { readonly ok: boolean; readonly detail: string } | null;
  error: ErrorBody | null;
  /** Why the outcome is unknown; null once a person has settled it. */
  unknownReason: string | null;
  /** The recorded states of the files that it writes. */
  files: readonly WrittenFile[];
  /** The undo that reverted the call, unless that undo was undone itself. */
  undoneBy: string | null;
  /** The agent that it called, the session of that agent, and how it ended. */
  helper: { readonly agentId: string; sessionId: string | null; end: HelperEnd | null } | null;
}

export interface RequestView {
  readonly requestId: string;
  readonly packId: string;
  readonly model: string;
  /** Why this model was used; only present if a route chose it. */
  readonly route?: RouteNote | undefined;
  readonly askedAtMs: number;
  endedAtMs: number | null;
  error: ErrorBody | null;
}

export type NoteTone = 'quiet' | 'warn' | 'bad';

/** The fact behind a note. The door formats it as text. */
export type NoteFact =
  | { readonly code: 'goes_on'; readonly by: string }
  | { readonly code: 'unreadable' }
  | { readonly code: 'cancel'; readonly by: EventBodies['turn.cancel_requested']['by'] }
  | { readonly code: 'retried'; readonly message: string; readonly waitMs: number }
  | { readonly code: 'failover'; readonly from: string; readonly to: string; readonly message: string; readonly waitMs: number }
  | { readonly code: 'budget'; readonly about: EventBodies['budget.exceeded'] }
  | { readonly code: 'unpriced'; readonly about: EventBodies['budget.unpriced'] }
  | { readonly code: 'undone'; readonly by: string; readonly isAgain: boolean; readonly files: number; readonly refused: number }
  /** A text of the host. */
  | { readonly code: 'said'; readonly text: string };

export type TurnEntry =
  | { readonly kind: 'call'; readonly key: string; readonly callId: string }
  | { readonly kind: 'text'; readonly key: string; readonly text: string }
  | { readonly kind: 'reasoning'; readonly key: string; readonly text: string }
  | { readonly kind: 'steer'; readonly key: string; readonly text: string }
  /** Calls that were planned together. Their lines follow it. */
  | { readonly kind: 'plan'; readonly key: string; readonly callIds: readonly string[] }
  | { readonly kind: 'note'; readonly key: string; readonly fact: NoteFact; readonly tone: NoteTone };

export interface UserMessage {
  readonly seq: number;
  readonly text: string;
  readonly channel: string;
  readonly sender: string;
  readonly atMs: number;
  /** Files that were attached. */
  readonly attachments: readonly ArtifactRef[];
}

export interface TurnView {
  readonly turnId: string;
  kind: 'chat' | 'tool';
  status: TurnStatus | 'queued';
  messages: UserMessage[];
  /** Its texts and calls in order, each with a stable key. */
  entries: TurnEntry[];
  calls: Record<string, CallView>;
  /** Every approval that a person was asked for, by id, with its answer. */
  approvals: Record<string, Approval>;
  requests: RequestView[];
  /** The size of each request. */
  packs: { readonly packId: string; readonly tokens: number; readonly budgetTokens: number; readonly leftOut: number }[];
  /** The decision of each step, and its reason. */
  decisions: { readonly step: number; readonly phase: Phase | null; readonly intent: string; readonly reason: string }[];
  /** The recorded answer; empty until there is one. */
  answer: string;
  /** The streaming answer, which is not recorded yet. */
  live: string;
  /** The length of the stream so far, which is where its next piece continues. */
  liveTo: number;
  /** The newest part of the model's reasoning while it streams. */
  liveReasoning: string;
  /** When the pending model request was sent; null if none is pending. */
  askedAtMs: number | null;
  phase: Phase | null;
  /** When each phase was first reached, and how many events it has. */
  phases: Partial<Record<Phase, { readonly atMs: number; events: number }>>;
  model: string | null;
  step: number;
  /** When its first event happened. */
  beganAtMs: number;
  startedAtMs: number;
  /** The position of its start in the session; 0 if unknown. */
  startSessionSeq: number;
  finishedAtMs: number | null;
  lastSeq: number;
  lastAtMs: number;
  /** The usage so far; after the end, the recorded usage. */
  usage: Usage;
  /** Null if a price was unknown. */
  costUsd: number | null;
  error: ErrorBody | null;
  /** The times of waiting for a person. The last one is open while it has no end. */
  waits: { readonly fromMs: number; toMs: number | null }[];
  /** Sources of untrusted content in this turn. */
  others: TaintSource[];
  filesUndone: number;
  /** The turn whose message this one runs again. */
  retries: string | null;
  /** The turn that ran the same message again. This turn is then no longer part of the conversation. */
  supersededBy: string | null;
  /** The calls that each undo reverted. */
  undos: Record<string, readonly string[]>;
  /** The call of each subagent job. */
  helpers: Record<string, string>;
  /** False if the turn began before the folded events. */
  hasStart: boolean;
}

export function createTurnView(turnId: string, atMs: number): TurnView {
  return {
    turnId,
    kind: 'chat',
    status: 'queued',
    messages: [],
    entries: [],
    calls: {},
    approvals: {},
    requests: [],
    packs: [],
    decisions: [],
    answer: '',
    live: '',
    liveTo: 0,
    liveReasoning: '',
    askedAtMs: null,
    phase: null,
    phases: {},
    model: null,
    step: 0,
    beganAtMs: atMs,
    startedAtMs: atMs,
    startSessionSeq: 0,
    finishedAtMs: null,
    lastSeq: 0,
    lastAtMs: atMs,
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    costUsd: 0,
    error: null,
    waits: [],
    others: [],
    filesUndone: 0,
    retries: null,
    supersededBy: null,
    undos: {},
    helpers: {},
    hasStart: false,
  };
}

export function createCallView(callId: string, tool: string, args: string): CallView {
  return {
    callId,
    tool,
    args,
    state: 'proposed',
    decision: null,
    approval: null,
    denial: null,
    asked: null,
    decidedBy: null,
    startedAtMs: null,
    endedAtMs: null,
    tookMs: null,
    forUser: '',
    forModel: '',
    output: '',
    artifacts: [],
    verified: null,
    error: null,
    unknownReason: null,
    files: [],
    undoneBy: null,
    helper: null,
  };
}

/** The files whose state the call changed. */
export function changedFiles(call: CallView | undefined): readonly WrittenFile[] {
  if (call === undefined || call.files.length === 0) return [];
  return call.files.filter(({ before, after }) => after === null || JSON.stringify(before) !== JSON.stringify(after));
}

/** The files that the calls changed, named as the calls gave them if known, which is shorter than the real path. */
export function changedNames({ calls }: TurnView): ReadonlyMap<string, string> {
  const changed = Object.values(calls).flatMap(changedFiles);
  if (changed.length === 0) return new Map();
  const paths = Object.values(calls).flatMap(({ decision }) => decision?.facts.paths ?? []);
  const names = new Map(paths.map(({ real, given }) => [real, given]));
  return new Map(changed.map(({ path }) => [path, names.get(path) ?? path]));
}

/** Whether the call has ended and gets no further events automatically. */
export function isEnded({ state }: CallView): boolean {
  return state !== 'proposed' && state !== 'waiting' && state !== 'running';
}

/** Whether the call ran to its own end, successful or not, and nothing stopped it. */
export function isFinished({ state }: CallView): boolean {
  return state === 'ok' || state === 'error';
}

export function isOpen(turn: TurnView): boolean {
  return turn.status === 'running' || turn.status === 'waiting' || turn.status === 'queued';
}
