// A port to the turn runtime for its own dependencies, which are created first: tools, hooks, pack sources. A call before the runtime
// exists is refused in the same way as while closing; no caller uses it before `begin`.

import { AppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent } from '../../contracts/events.ts';
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
  /** Resolves when the turn waits or has ended. */
  whenResting(turnId: string): Promise<TurnEnd | null>;
  retry(turnId: string, options: { readonly model: string | null; readonly by: string }): { sessionId: string; turnId: string };
  cancel(turnId: string, reason: string, by: 'person' | 'panic'): void;
  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[], alongside?: () => void): readonly AnyEvent[];
  /** Continues a waiting turn. */
  continueTurn(turnId: string): void;
  forgetSession(sessionId: string): void;
}

export class DeferredTurns implements TurnPort {
  #turns: (TurnPort & { dispose(): Promise<void> }) | null = null;

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

  submit(message: InboundMessage): { sessionId: string; turnId: string } {
    return this.#ready.submit(message);
  }

  accept(message: InboundMessage): Accepted {
    return this.#ready.accept(message);
  }

  runTool(call: DirectCall): { sessionId: string; turnId: string; callId: string } {
    return this.#ready.runTool(call);
  }

  whenResting(turnId: string): Promise<TurnEnd | null> {
    return this.#ready.whenResting(turnId);
  }

  retry(turnId: string, options: { readonly model: string | null; readonly by: string }): { sessionId: string; turnId: string } {
    return this.#ready.retry(turnId, options);
  }

  cancel(turnId: string, reason: string, by: 'person' | 'panic'): void {
    this.#ready.cancel(turnId, reason, by);
  }

  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[], alongside?: () => void): readonly AnyEvent[] {
    return this.#ready.appendToTurn(sessionId, turnId, drafts, alongside);
  }

  continueTurn(turnId: string): void {
    this.#ready.continueTurn(turnId);
  }

  forgetSession(sessionId: string): void {
    this.#ready.forgetSession(sessionId);
  }

  get #ready(): TurnPort {
    if (this.#turns === null) throw new AppError('shutting_down', 'No turn can be started yet.');
    return this.#turns;
  }
}
