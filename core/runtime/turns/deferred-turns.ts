// A port to the turn runtime for its own dependencies, which are created first: tools, hooks, pack sources. A call before the runtime
// exists is refused in the same way as while closing; no caller uses it before `begin`.

import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import type { Accepted, DirectCall, InboundMessage } from './inbound.ts';
import type { TurnEnd } from './turn-ends.ts';

/** The methods of the turn runtime that other modules may call. */
export interface TurnPort {
  readonly runningTurns: number;
  /** Fails with queue_full, panic_engaged, shutting_down or a store error. */
  submit(message: InboundMessage): { sessionId: string; turnId: string };
  /** Like `submit`, but leaves the wait for the disk to the caller. The model is asked meanwhile, and no effect begins before. */
  accept(message: InboundMessage): Accepted;
  /** Runs one tool through the gate, without a model. Fails as `submit` does, and with denied in a folder that is not trusted. */
  runTool(call: DirectCall): { sessionId: string; turnId: string; callId: string };
  /** Resolves when the turn waits or has ended, or is queued behind one that waits. */
  whenResting(turnId: string): Promise<TurnEnd | null>;
  retry(turnId: string, options: { readonly model: string | null; readonly by: string }): { sessionId: string; turnId: string };
  takeUpEnded(turnId: string, by: string): { sessionId: string; turnId: string };
  cancel(turnId: string, reason: string, by: 'person' | 'panic'): void;
  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[], alongside?: () => void): readonly AnyEvent[];
  /** Continues a waiting turn. */
  continueTurn(turnId: string): void;
  forgetSession(sessionId: string): void;
  /** The texts that the turn is writing, each from its beginning, for a reader who joins. */
  liveTexts(turnId: string): DeltaNotice[];
}

export class DeferredTurns implements TurnPort {
  #turns: (TurnPort & { dispose(): Promise<void> }) | null = null;
  readonly submit: TurnPort['submit'] = (message) => this.#ready.submit(message);
  readonly accept: TurnPort['accept'] = (message) => this.#ready.accept(message);
  readonly runTool: TurnPort['runTool'] = (call) => this.#ready.runTool(call);
  readonly whenResting: TurnPort['whenResting'] = (turnId) => this.#ready.whenResting(turnId);
  readonly retry: TurnPort['retry'] = (turnId, options) => this.#ready.retry(turnId, options);

  readonly takeUpEnded: TurnPort['takeUpEnded'] = (turnId, by) => this.#ready.takeUpEnded(turnId, by);
  readonly cancel: TurnPort['cancel'] = (turnId, reason, by) => this.#ready.cancel(turnId, reason, by);
  readonly appendToTurn: TurnPort['appendToTurn'] = (sessionId, turnId, drafts, alongside) =>
    this.#ready.appendToTurn(sessionId, turnId, drafts, alongside);
  readonly continueTurn: TurnPort['continueTurn'] = (turnId) => this.#ready.continueTurn(turnId);
  readonly forgetSession: TurnPort['forgetSession'] = (sessionId) => this.#ready.forgetSession(sessionId);

  readonly liveTexts: TurnPort['liveTexts'] = (turnId) => this.#ready.liveTexts(turnId);

  /** Called once, when the runtime exists. */
  resolve(turns: TurnPort & { dispose(): Promise<void> }): void {
    this.#turns = turns;
  }

  async dispose(): Promise<void> {
    await this.#turns?.dispose();
  }

  get runningTurns(): number {
    return this.#turns?.runningTurns ?? 0;
  }

  get #ready(): TurnPort {
    if (this.#turns === null) throw new AppError('shutting_down', 'No turn can be started yet.');
    return this.#turns;
  }
}
