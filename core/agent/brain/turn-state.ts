// The state of a turn as the brain sees it: a plain value folded from the turn's events. Has no behaviour and does no I/O.

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
  /** Secrets that were redacted from the arguments; absent if there are none. */
  readonly withheld?: readonly string[];
  readonly status: CallStatus;
  readonly idempotency: Idempotency;
  readonly verifies: boolean;
  readonly verified: boolean;
  readonly approvalId: string | null;
  readonly grantId: string | null;
  /**
   * True if the call was requested before and runs again, either after a restart or because a person chose to retry a call with an unknown
   * outcome.
   */
  readonly retried: boolean;
  /** Approving this call ends the turn's read-only mode. */
  readonly approvesPlan?: true;
  readonly outcome: ToolOutcome | null;
  readonly resultHash: string;
}

/** How often a call returned the same result since the last change to the world. */
export interface Repeat {
  readonly resultHash: string;
  readonly count: number;
}

export interface TurnState {
  readonly kind: 'chat' | 'tool';
  readonly limits: TurnLimits;
  readonly startedAtMs: number;
  /** The time of the newest event: the brain's only clock. */
  readonly lastAtMs: number;
  /** Since when the turn waits for a person; null while it does not. */
  readonly waitingSinceMs: number | null;
  /** How long it waited for a person, or the program was off. */
  readonly restedMs: number;
  /** The number of decisions made. */
  readonly step: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** A pack that was built but not yet sent to the model. */
  readonly packId: string | null;
  /** The model request in flight. */
  readonly requestId: string | null;
  /** The newest answer, if it contains no calls. */
  readonly reply: { readonly text: string; readonly finishReason: FinishReason } | null;
  readonly calls: readonly CallState[];
  readonly observed: boolean;
  readonly reflected: boolean;
  readonly reflections: number;
  readonly repeats: Readonly<Record<string, Repeat>>;
  /** The highest number of equal calls with equal results in the newest batch. */
  readonly repeatedMost: number;
  readonly failedBatches: number;
  /** The number of messages from the person that no pack includes yet. */
  readonly unseenSteers: number;
  readonly failure: ErrorBody | null;
  readonly overflowed: boolean;
  /** The newest answer was interrupted and is requested again. */
  readonly brokeOff: boolean;
  /** The model gave no answer, and the route of the turn has another model. */
  readonly rerouted: boolean;
  readonly overBudget: OverBudget | null;
  readonly cancel: { readonly reason: string; readonly by: 'person' | 'panic' | 'shutdown' } | null;
  readonly usage: Usage;
  /** In US dollars; null as soon as any price was unknown. */
  readonly costUsd: number | null;
  /** A plan, or its next step, was approved and carried over into this turn. */
  readonly planApproved: boolean;
  readonly status: 'idle' | 'running' | 'waiting' | 'finished';
}

export const emptyTurn: TurnState = {
  kind: 'chat',
  limits: { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 },
  startedAtMs: 0,
  lastAtMs: 0,
  waitingSinceMs: null,
  restedMs: 0,
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

/** The loop guard treats calls with the same key as the same call. */
export function repeatKey(call: Pick<CallState, 'tool' | 'args'>): string {
  return `${call.tool}\n${call.args}`;
}

/** Returns whether the call needs no more work. */
export function isResolved(call: CallState): boolean {
  return call.status === 'finished' || call.status === 'denied' || call.status === 'rejected';
}
