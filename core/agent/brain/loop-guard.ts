// Limits of a turn (model calls, time, repeated calls), and the reflection notes that come before the turn is ended.

import { AppError, type ErrorBody } from '../../contracts/errors.ts';
import { repeatKey, type CallState, type TurnState } from './turn-state.ts';

export interface Reflection {
  readonly why: string;
  readonly note: string;
}

const REFLECTIONS_MAX = 3;
/** A model that keeps requesting a refused call is stopped after this many times the `sameCall` limit. */
const INSISTENCE_FACTOR = 4;
const FAILED_BATCHES_BEFORE_NOTE = 2;

/** Returns true if the call was already run `limits.sameCall` times with the same result each time. */
export function repeatedTooOften(state: TurnState, call: Pick<CallState, 'tool' | 'args'>): boolean {
  return (state.repeats[repeatKey(call)]?.count ?? 0) >= state.limits.sameCall;
}

export function overLimits(state: TurnState): ErrorBody | null {
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
export function reflectionFor(state: TurnState): Reflection | null {
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
      note: 'The last two steps failed altogether. Read the errors, change your approach, or tell the person what blocks you.',
    };
  }
  return null;
}
