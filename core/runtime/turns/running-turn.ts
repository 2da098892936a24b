// What performing a step sees of the turn it belongs to. The runner is the only one that implements it.

import type { DraftOf, EventType, Phase } from '../../contracts/events.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { TurnState } from '../../agent/brain/brain.ts';
import type { CallOrigin } from '../../guard/policy/policy.ts';
import type { Transcript } from '../../mind/context/context.ts';
import type { TurnDeps } from './ports.ts';

/** `next`: decide again. `rest`: the turn waits or has ended. `halt`: the program is closing; the turn goes on at the next start. */
export type Step = 'next' | 'rest' | 'halt';

export interface TurnPlace {
  readonly sessionId: string;
  readonly turnId: string;
}

export interface ShownPack {
  readonly packId: string;
  readonly system: string;
  /** Estimated size of the request. */
  readonly tokens: number;
}

export interface RunningTurn {
  readonly deps: TurnDeps;
  readonly place: TurnPlace;
  readonly state: TurnState;
  readonly model: string | null;
  /** Turns whose work this one takes up, oldest first. */
  readonly continues: readonly string[];
  /** Who is at work, and the door its turn came through. */
  readonly origin: CallOrigin;
  readonly transcript: Transcript;
  readonly abort: AbortController;
  /** What each call touches, as it was last looked at. */
  readonly callFacts: Map<string, CallFacts>;
  /** True once the program closes: nothing more is recorded. */
  readonly halted: boolean;
  pack: ShownPack | null;
  nextPackId(): string;
  emit<T extends EventType>(type: T, body: DraftOf<T>['body'], phase?: Phase | null): void;
  /** Writes what was recorded; `barrier` waits for the disk, `alongside` adds to the same transaction. */
  flush(barrier?: boolean, alongside?: () => void): void;
  /**
   * Flushes in a moment unless the returned function is called before: where somebody watches as soon as what was just begun is under
   * way, else after 25 ms. A failure ends the turn.
   */
  flushSoon(isWatched: boolean): () => void;
  /** Flushes before somebody is shown what came after. Returns whether there was anything. A failure ends the turn once its step is over. */
  writeAhead(): boolean;
}
