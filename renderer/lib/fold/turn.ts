// The window's picture of a turn, derived from events alone. Plain mutable objects, so that the same fold runs in tests and under runes.

import type { FileImage } from '../../../core/contracts/checkpoints.ts';
import type { ErrorBody } from '../../../core/contracts/errors.ts';
import type { EventBodies, Phase, TurnStatus } from '../../../core/contracts/events.ts';
import type { Usage } from '../../../core/contracts/llm.ts';
import type { Approval } from '../../../core/contracts/policy.ts';
import type { ArtifactRef, CallFacts, ToolOutcome } from '../../../core/contracts/tools.ts';

export type CallState = ToolOutcome | 'proposed' | 'waiting' | 'running';

export interface CallDecision {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly ruleId: string;
  readonly reason: string;
  readonly facts: CallFacts;
  readonly grantId: string | null;
}

export interface WrittenFile {
  readonly path: string;
  readonly before: FileImage;
  /** Null while the call runs, or where nobody saw what it left. */
  readonly after: FileImage | null;
}

export interface Call {
  readonly callId: string;
  tool: string;
  args: string;
  state: CallState;
  decision: CallDecision | null;
  /** The newest approval asked for this call. */
  approval: Approval | null;
  decidedBy: string | null;
  startedAtMs: number | null;
  tookMs: number | null;
  forUser: string;
  forModel: string;
  /** Live output, the newest part only; never recorded. */
  output: string;
  artifacts: readonly ArtifactRef[];
  verified: { readonly ok: boolean; readonly detail: string } | null;
  error: ErrorBody | null;
  /** Why nobody knows what happened; null once somebody said. */
  unknownReason: string | null;
  /** What was kept of the files it writes. */
  files: readonly WrittenFile[];
  /** The undo that took it back, unless that was taken back in turn. */
  undoneBy: string | null;
}

export type NoteTone = 'quiet' | 'warn' | 'bad';

/** What a note says; how it is worded is not its matter. */
export type NoteFact =
  | { readonly code: 'goes_on'; readonly by: string }
  | { readonly code: 'unreadable' }
  | { readonly code: 'cancel'; readonly by: EventBodies['turn.cancel_requested']['by'] }
  | { readonly code: 'retried'; readonly message: string; readonly waitMs: number }
  | { readonly code: 'budget'; readonly about: EventBodies['budget.exceeded'] }
  | { readonly code: 'unpriced'; readonly about: EventBodies['budget.unpriced'] }
  | { readonly code: 'undone'; readonly by: string; readonly isAgain: boolean; readonly files: number; readonly refused: number }
  /** In the host's own words. */
  | { readonly code: 'said'; readonly text: string };

export type TurnEntry =
  | { readonly kind: 'call'; readonly key: string; readonly callId: string }
  | { readonly kind: 'text'; readonly key: string; readonly text: string }
  | { readonly kind: 'reasoning'; readonly key: string; readonly text: string }
  | { readonly kind: 'steer'; readonly key: string; readonly text: string }
  /** Calls that were planned together; their lines stand under it. */
  | { readonly kind: 'plan'; readonly key: string; readonly callIds: readonly string[] }
  | { readonly kind: 'note'; readonly key: string; readonly fact: NoteFact; readonly tone: NoteTone };

export interface UserMessage {
  readonly seq: number;
  readonly text: string;
  readonly channel: string;
  readonly atMs: number;
  /** Files that were sent along. */
  readonly attachments: readonly ArtifactRef[];
}

export interface Turn {
  readonly turnId: string;
  kind: 'chat' | 'tool';
  status: TurnStatus | 'queued';
  messages: UserMessage[];
  entries: TurnEntry[];
  calls: Record<string, Call>;
  /** The answer as recorded; empty until there is one. */
  answer: string;
  /** The answer as it streams, not recorded yet. */
  live: string;
  /** The newest part of the model's reasoning while it streams. */
  liveReasoning: string;
  /** When the model was asked that has not answered yet. */
  askedAtMs: number | null;
  /** What streams may have begun before this window was there to see it. */
  missesStart: boolean;
  phase: Phase | null;
  reached: Partial<Record<Phase, boolean>>;
  model: string | null;
  step: number;
  startedAtMs: number;
  /** Where its start stands in the session; 0 while that is not known. */
  startSessionSeq: number;
  finishedAtMs: number | null;
  lastSeq: number;
  usage: Usage | null;
  costUsd: number | null;
  error: ErrorBody | null;
  packIds: string[];
  /** What the newest request to the model held. */
  context: { readonly tokens: number; readonly budgetTokens: number; readonly leftOut: number } | null;
  /** What its model calls came to so far; the price is null once one of them is unknown. */
  spent: { readonly tokens: number; readonly usd: number | null };
  /** The turn whose message this one runs again. */
  retries: string | null;
  /** The turn that ran the same message again: what this one did is no longer part of the conversation. */
  supersededBy: string | null;
  /** Which calls each undo took back. */
  undos: Record<string, readonly string[]>;
  /** False while its beginning lies before the events that were loaded. */
  hasStart: boolean;
}

export function createTurn(turnId: string, atMs: number): Turn {
  return {
    turnId,
    kind: 'chat',
    status: 'queued',
    messages: [],
    entries: [],
    calls: {},
    answer: '',
    live: '',
    liveReasoning: '',
    askedAtMs: null,
    missesStart: false,
    phase: null,
    reached: {},
    model: null,
    step: 0,
    startedAtMs: atMs,
    startSessionSeq: 0,
    finishedAtMs: null,
    lastSeq: 0,
    usage: null,
    costUsd: null,
    error: null,
    packIds: [],
    context: null,
    spent: { tokens: 0, usd: 0 },
    retries: null,
    supersededBy: null,
    undos: {},
    hasStart: false,
  };
}

/** The call by id; a first mention makes it and gives it its line. */
export function callOf(turn: Turn, callId: string, about?: { readonly tool: string; readonly args: string }): Call {
  const known = turn.calls[callId];
  if (known !== undefined) {
    if (about !== undefined && known.args === '') Object.assign(known, about);
    return known;
  }
  turn.calls[callId] = {
    callId,
    tool: about?.tool ?? '',
    args: about?.args ?? '',
    state: 'proposed',
    decision: null,
    approval: null,
    decidedBy: null,
    startedAtMs: null,
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
  };
  turn.entries.push({ kind: 'call', key: callId, callId });
  // Read back: under runes the stored object is a proxy, and only changes through it are seen.
  return turn.calls[callId];
}

/** The files a call left in another state than it found them. */
export function changedFiles(call: Call | undefined): readonly WrittenFile[] {
  return call?.files.filter(({ before, after }) => after === null || JSON.stringify(before) !== JSON.stringify(after)) ?? [];
}

/** Nothing more comes of the call by itself. */
export function isEnded({ state }: Call): boolean {
  return state !== 'proposed' && state !== 'waiting' && state !== 'running';
}

/** It ran to its own end, well or not: nothing stopped it before. */
export function isFinished({ state }: Call): boolean {
  return state === 'ok' || state === 'error';
}

export function isOpen(turn: Turn): boolean {
  return turn.status === 'running' || turn.status === 'waiting' || turn.status === 'queued';
}
