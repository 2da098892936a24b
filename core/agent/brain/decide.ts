// The decision function: maps the state of a turn to the next step and the reason for it. interpret → plan → policy-gate → act → observe →
// verify → reflect → respond. Pure: it performs nothing, and its only clock is the time of the events.

import { counted } from '../../base/counted.ts';
import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import type { Phase } from '../../contracts/events.ts';
import type { FinishReason } from '../../contracts/llm.ts';
import { overBudgetError } from './over-budget.ts';
import { type CallState, isResolved, repeatKey, type TurnState } from './turn-state.ts';

export type EndStatus = 'done' | 'failed' | 'cancelled' | 'over_budget' | 'stopped';

interface Chosen<K extends string> {
  readonly kind: K;
  readonly phase: Phase;
  /** The reason, as a sentence for a person. */
  readonly reason: string;
  readonly callIds: readonly string[];
}

export type Intent =
  | (Chosen<'pack'> & { readonly smaller: boolean })
  | (Chosen<'complete'> & { readonly packId: string })
  | Chosen<'authorize'>
  | Chosen<'execute'>
  /** The same call returned the same result too often: it is answered without running it. */
  | Chosen<'refuse'>
  | Chosen<'observe'>
  | Chosen<'verify'>
  | (Chosen<'reflect'> & { readonly reflection: Reflection })
  | Chosen<'wait'>
  | (Chosen<'respond'> & { readonly status: EndStatus; readonly text: string; readonly error: ErrorBody | null });

export function decide(state: TurnState): Intent | null {
  if (state.status === 'finished' || state.status === 'idle') return null;
  return decideEnd(state) ?? decideCalls(state) ?? decideAfterCalls(state) ?? decideReply(state) ?? decideModel(state);
}

/** Ends the turn even if work is open, but first waits for running calls so that their results are not lost. */
function decideEnd(state: TurnState): Intent | null {
  if (state.calls.some((call) => call.status === 'running')) return null;
  if (state.cancel !== null) {
    const stopped = state.cancel.by === 'panic';
    return respond(stopped ? 'stopped' : 'cancelled', '', null, state.cancel.reason);
  }
  if (state.overBudget !== null) {
    const error = overBudgetError(state.overBudget);
    return respond('over_budget', '', error, error.message);
  }
  if (state.failure !== null) return respond('failed', '', state.failure, state.failure.message);
  return null;
}

function decideCalls(state: TurnState): Intent | null {
  const proposed = state.calls.filter((call) => call.status === 'proposed');
  if (proposed.length > 0) {
    const repeated = proposed.filter((call) => repeatedTooOften(state, call));
    if (repeated.length > 0) return chosen('refuse', 'policy-gate', 'The same call with the same result was made too often.', repeated);
    return chosen('authorize', 'policy-gate', `Ask the gate about ${counted(proposed.length, 'call')}.`, proposed);
  }
  const open = state.calls.filter((call) => !isResolved(call));
  const first = open[0];
  if (first === undefined) return null;
  if (first.status === 'running') return chosen('wait', 'act', 'A call is still running.', [first]);
  if (first.status === 'unknown') return chosen('wait', 'act', 'It is unknown whether this call happened; a person decides.', [first]);
  if (first.status === 'waiting') {
    const waiting = open.filter((call) => call.status === 'waiting');
    return chosen('wait', 'policy-gate', `Waiting for your approval of ${counted(waiting.length, 'call')}.`, waiting);
  }
  const batch = readyBatch(open, state.limits.parallelReads);
  return chosen(
    'execute',
    'act',
    batch.length > 1 ? 'Independent reads run side by side.' : 'The gate allowed it and its turn has come.',
    batch,
  );
}

/** The program itself makes the opening call of a chat. If it fails, the folder is untrusted and no model is asked. */
const notTrusted: ErrorBody = {
  code: 'denied',
  message: 'TrayClaw was not allowed to work in the folder of this session, so the message was not answered.',
  hint: 'Send it again to be asked once more, or start a session elsewhere.',
};

/** Returns the leading pure calls as one batch, or else a single call, so that a call with effects keeps its place in the order. */
function readyBatch(open: readonly CallState[], max: number): readonly CallState[] {
  const batch: CallState[] = [];
  for (const call of open) {
    if (call.status !== 'allowed' || call.idempotency !== 'pure' || batch.length >= max) break;
    batch.push(call);
  }
  return batch.length > 0 ? batch : open.slice(0, 1);
}

function decideAfterCalls(state: TurnState): Intent | null {
  if (state.calls.length === 0) return null;
  const unverified = state.calls.filter((call) => call.verifies && !call.verified && call.status === 'finished' && call.outcome === 'ok');
  if (unverified.length > 0) return chosen('verify', 'verify', 'Check that the effect is really there.', unverified);
  if (!state.observed) return chosen('observe', 'observe', 'All calls of this step have their results.', state.calls);
  const unopened = state.kind === 'chat' && state.modelCalls === 0 && state.calls.some((call) => call.outcome !== 'ok');
  if (unopened) return respond('failed', '', notTrusted, notTrusted.message);
  if (state.kind === 'tool') return respond('done', '', null, 'The call a person made has its result.');
  const reflection = state.reflected ? null : reflectionFor(state);
  if (reflection !== null) return { ...chosen('reflect', 'reflect', reflection.why, state.calls), reflection };
  return null;
}

/** Notes that are shown with an incomplete answer, by finish reason. */
const cutWords: Partial<Record<FinishReason, { readonly after: string; readonly nothing?: string }>> = {
  length: { after: "The answer was cut off at the model's length limit." },
  content_filter: {
    after: "The answer was cut off by the content filter of the model's provider.",
    nothing: "The content filter of the model's provider withheld the answer. Say it in other words, or choose another model.",
  },
};

function decideReply(state: TurnState): Intent | null {
  if (state.reply === null) return null;
  if (state.unseenSteers > 0) return null;
  const { text, finishReason } = state.reply;
  const cut = cutWords[finishReason];
  if (text.trim() === '')
    return respond('done', cut?.nothing ?? 'The model ended its turn without an answer.', null, 'The model answered with nothing.');
  return respond('done', cut === undefined ? text : `${text}\n\n(${cut.after})`, null, 'The model answered and asked for nothing more.');
}

function decideModel(state: TurnState): Intent {
  const over = overLimits(state);
  if (over !== null) return respond('failed', '', over, over.message);
  if (state.packId !== null) {
    const why = state.brokeOff ? 'The answer broke off: ask the model once more.' : 'The pack is ready: ask the model.';
    return { ...chosen('complete', 'plan', why, []), packId: state.packId };
  }
  const reason = packReason(state);
  return { ...chosen('pack', state.modelCalls === 0 ? 'interpret' : 'plan', reason, []), smaller: state.overflowed };
}

function packReason({ modelCalls, rerouted, overflowed }: TurnState): string {
  if (modelCalls === 0) return 'Gather what the model needs to see.';
  if (rerouted) return 'The model gave no answer: ask the next one of the route.';
  return overflowed ? 'The pack was too large: build a smaller one.' : 'Show the model what came of it.';
}

function chosen<K extends string>(kind: K, phase: Phase, reason: string, calls: readonly CallState[]): Chosen<K> {
  return { kind, phase, reason, callIds: calls.map((call) => call.callId) };
}

function respond(status: EndStatus, text: string, error: ErrorBody | null, reason: string): Intent {
  return { kind: 'respond', phase: 'respond', reason, callIds: [], status, text, error };
}

// Limits of a turn (model calls, time, repeated calls), and the reflection notes that come before the turn is ended.

interface Reflection {
  readonly why: string;
  readonly note: string;
}

const REFLECTIONS_MAX = 3;
/** A model that keeps requesting a refused call is stopped after this many times the `sameCall` limit. */
const INSISTENCE_FACTOR = 4;
const FAILED_BATCHES_BEFORE_NOTE = 2;

/** Returns true if the call was already run `limits.sameCall` times with the same result each time. */
function repeatedTooOften(state: TurnState, call: Pick<CallState, 'tool' | 'args'>): boolean {
  return (state.repeats[repeatKey(call)]?.count ?? 0) >= state.limits.sameCall;
}

function overLimits(state: TurnState): ErrorBody | null {
  const { limits } = state;
  if (state.repeatedMost >= limits.sameCall * INSISTENCE_FACTOR) {
    const message = `Stopped: the model asked for the same call ${state.repeatedMost} times and got the same result.`;
    return new AppError('loop_detected', message).toBody();
  }
  if (state.modelCalls >= limits.steps) {
    return new AppError('step_limit', `Stopped after ${state.modelCalls} model calls, the limit of a turn.`).toBody();
  }
  if (state.lastAtMs - state.startedAtMs - state.restedMs >= limits.turnMs) {
    return new AppError('time_limit', `Stopped after ${Math.round(limits.turnMs / 1000)} s, the limit of a turn.`).toBody();
  }
  return null;
}

/** Returns a note for the model if it repeats itself or all its calls fail. At most three notes per turn. */
function reflectionFor(state: TurnState): Reflection | null {
  if (state.reflections >= REFLECTIONS_MAX) return null;
  if (state.repeatedMost === state.limits.sameCall) {
    return {
      why: 'The same call gave the same result again.',
      note: `You made the same call ${state.repeatedMost} times with the same result. It will not be run again. Use what you have, try something else, or say what you are missing.`,
    };
  }
  if (state.failedBatches === FAILED_BATCHES_BEFORE_NOTE) {
    return {
      why: 'Everything failed twice in a row.',
      note: 'Every call of the last two steps failed. Read the errors, change your approach, or tell the person what blocks you.',
    };
  }
  return null;
}
