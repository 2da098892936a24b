// The state of a turn for the brain: a plain value folded from the turn's events. No behaviour, no I/O.

import type { ErrorBody } from '../../contracts/errors.ts';
import type { TurnLimits } from '../../contracts/events.ts';
import { noUsage, type FinishReason, type Usage } from '../../contracts/llm.ts';
import type { OverBudget } from './over-budget.ts';
import type { Idempotency, ToolOutcome } from '../../contracts/tools.ts';

/**
 * proposed → rejected (never reached the gate) | allowed | waiting → allowed | denied; allowed → running → finished,
 * or → unknown → finished | allowed.
 */
export type CallStatus = 'proposed' | 'rejected' | 'allowed' | 'waiting' | 'denied' | 'running' | 'finished' | 'unknown';

export interface CallState {
  readonly callId: string;
  readonly tool: string;
  readonly args: string;
  /** Secrets redacted from the arguments; absent when there are none. */
  readonly withheld?: readonly string[];
  readonly status: CallStatus;
  readonly idempotency: Idempotency;
  readonly verifies: boolean;
  readonly verified: boolean;
  readonly approvalId: string | null;
  readonly grantId: string | null;
  /** It was requested before and runs again: after a restart, or because a person chose so when its outcome was lost. */
  readonly retried: boolean;
  /** An approval of it ends what holds the turn to reading. */
  readonly approvesPlan?: true;
  readonly outcome: ToolOutcome | null;
  readonly resultHash: string;
}

/** How often one call was made with one result since the last change. */
export interface Repeat {
  readonly resultHash: string;
  readonly count: number;
}

export interface TurnState {
  readonly kind: 'chat' | 'tool';
  readonly limits: TurnLimits;
  readonly startedAtMs: number;
  /** Time of the newest event: the brain's only clock. */
  readonly lastAtMs: number;
  /** Decisions taken. */
  readonly step: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** A pack built and not yet shown to the model. */
  readonly packId: string | null;
  /** The running model request. */
  readonly requestId: string | null;
  /** The newest answer, once it holds no calls. */
  readonly reply: { readonly text: string; readonly finishReason: FinishReason } | null;
  readonly calls: readonly CallState[];
  readonly observed: boolean;
  readonly reflected: boolean;
  readonly reflections: number;
  readonly repeats: Readonly<Record<string, Repeat>>;
  /** The highest number of equal calls with equal results seen in the newest batch. */
  readonly repeatedMost: number;
  readonly failedBatches: number;
  /** Messages of the person that no pack has included yet. */
  readonly unseenSteers: number;
  readonly failure: ErrorBody | null;
  readonly overflowed: boolean;
  /** The newest answer broke off and is requested again. */
  readonly brokeOff: boolean;
  /** The model that was asked gave no answer, and the route of the turn has another. */
  readonly rerouted: boolean;
  readonly overBudget: OverBudget | null;
  readonly cancel: { readonly reason: string; readonly by: 'person' | 'panic' | 'shutdown' } | null;
  readonly usage: Usage;
  /** US dollars; null once a price was unknown. */
  readonly costUsd: number | null;
  /** A plan, or its next step, was approved and carried over into the turn. */
  readonly planApproved: boolean;
  readonly status: 'idle' | 'running' | 'waiting' | 'finished';
}

export const emptyTurn: TurnState = {
  kind: 'chat',
  limits: { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 },
  startedAtMs: 0,
  lastAtMs: 0,
  step: 0,
  modelCalls: 0,
  toolCalls: 0,
  packId: null,
  requestId: null,
  reply: null,
  calls: [],
  observed: true,
  reflected: true,
  reflections: 0,
  repeats: {},
  repeatedMost: 0,
  failedBatches: 0,
  unseenSteers: 0,
  failure: null,
  overflowed: false,
  brokeOff: false,
  rerouted: false,
  overBudget: null,
  cancel: null,
  usage: noUsage,
  costUsd: 0,
  planApproved: false,
  status: 'idle',
};

/** Equal for calls that are the same to the loop guard. */
export function repeatKey(call: Pick<CallState, 'tool' | 'args'>): string {
  return `${call.tool}\n${call.args}`;
}

/** The call needs no more work. */
export function isResolved(call: CallState): boolean {
  return call.status === 'finished' || call.status === 'denied' || call.status === 'rejected';
}
