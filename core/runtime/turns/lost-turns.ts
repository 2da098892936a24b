// Ends the turns whose events could not be written, such as on a full disk: as failed, and as soon as the store accepts writes again.

import { isUnrecorded } from '../../contracts/continuable.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent } from '../../contracts/events.ts';
import { stateOf } from './open-turn.ts';
import type { TurnDeps } from './ports.ts';
import { unknownOutcome } from './settle.ts';
import type { TurnEnds } from './turn-ends.ts';
import type { TurnRunner } from './turn-runner.ts';

export interface LostTurnsDeps extends Pick<TurnDeps, 'log' | 'later' | 'logger' | 'budget'> {
  readonly live: ReadonlyMap<string, unknown>;
  readonly ends: Pick<TurnEnds, 'end' | 'fail'>;
  /** Appends to a turn that is not live. Fails with a store error. */
  append(sessionId: string, turnId: string, drafts: readonly AnyDraft[]): readonly AnyEvent[];
}

const RETRY_MS = 5_000;

export class LostTurns {
  readonly #deps: LostTurnsDeps;
  /** At most the turns that were live when the store failed: a full disk accepts no message. */
  readonly #lost = new Map<string, { readonly runner: TurnRunner; readonly error: AppError }>();
  #callOff: (() => void) | null = null;
  #stopped = false;

  constructor(deps: LostTurnsDeps) {
    this.#deps = deps;
  }

  /** Reports the failure to those who wait for the turn, and ends what it still does. */
  add(runner: TurnRunner, cause: AppError): void {
    const { turnId } = runner.place;
    const error = sayHowToContinue(runner, cause);
    const { logger, ends, budget } = this.#deps;
    logger.log('error', 'a turn could not continue', { turnId, code: error.code, message: error.message });
    runner.abort.abort(error);
    ends.fail(turnId, error);
    budget.finishTurn(turnId);
    this.#lost.set(turnId, { runner, error });
    this.settle();
  }

  /** Records the ends that can be recorded now. The others are tried again later, and by the next message. */
  settle(): void {
    if (this.#lost.size === 0) return;
    this.#callOff?.();
    this.#callOff = null;
    for (const [turnId, { runner, error }] of this.#lost) {
      try {
        this.#end(runner, error);
        this.#lost.delete(turnId);
      } catch {
        // The failure of the turn is already in the program's log.
        if (!this.#stopped) this.#callOff ??= this.#deps.later(RETRY_MS, () => this.settle());
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#callOff?.();
  }

  #end({ place: { sessionId, turnId }, state, unwritten }: TurnRunner, error: AppError): void {
    const { log, live, ends } = this.#deps;
    const row = log.index.turn(turnId);
    if (row === null || live.has(turnId) || !openStatuses.has(row.status)) return;
    const called = log.index.openCalls().filter((call) => call.turnId === turnId && call.state === 'requested');
    // Only what is known of calls whose request is in the log: the others did not run, and the rest is void with the failed write.
    const known = unwritten.filter(({ body }) => 'callId' in body && called.some((call) => call.callId === body.callId));
    const finished = known.flatMap((draft) => (draft.type === 'tool.finished' ? [draft.body.callId] : []));
    const cutOff = called.filter((call) => !finished.includes(call.callId));
    const asked = stateOf(log, row).calls.filter((call) => call.status === 'waiting' && call.approvalId !== null);
    const { usage, costUsd, modelCalls, toolCalls } = state;
    const body = { status: 'failed' as const, text: '', error: error.toBody(), usage, costUsd, modelCalls, toolCalls };
    this.#deps.append(sessionId, turnId, [
      ...known,
      ...cutOff.map((call) => unknownOutcome(log, call, 'What it did could not be recorded; whether it took effect is not known.')),
      ...asked.map(({ callId, approvalId }) => withdrawn(turnId, callId, approvalId ?? '')),
      { type: 'turn.finished', turnId, phase: 'respond', body },
    ]);
    ends.end(turnId, { sessionId, status: 'failed', finished: body });
  }
}

function sayHowToContinue({ place, state, helper }: TurnRunner, cause: AppError): AppError {
  // A direct call is made again, and the caller of a subagent decides what follows.
  if (!isUnrecorded(cause.code) || state.kind === 'tool' || helper !== null) return cause;
  const { code, message, hint, data, isRetryable } = cause;
  const then = `Then continue: trayclaw turns continue ${place.turnId}`;
  return new AppError(code, message, { cause, data, isRetryable, hint: hint === undefined ? then : `${hint} ${then}` });
}

const openStatuses: ReadonlySet<string> = new Set(['queued', 'running', 'waiting']);

function withdrawn(turnId: string, callId: string, approvalId: string): AnyDraft {
  const body = { approvalId, callId, decision: 'withdraw' as const, scope: null, by: 'the end of the turn', grantId: null };
  return { type: 'approval.decided', turnId, phase: 'respond', body };
}
