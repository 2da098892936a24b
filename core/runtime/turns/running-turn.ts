// The view of a turn for the code that performs a step. Only the runner implements it.

import type { Redacted } from '../../base/redacted.ts';
import type { DraftOf, EventBodies, EventType, Phase } from '../../contracts/events.ts';
import type { HelperOrigin } from '../../contracts/features/helpers.ts';
import type { ChatMessage, ToolSchema } from '../../contracts/llm.ts';
import type { RouteNote } from '../../contracts/model-routes.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { TurnState } from '../../agent/brain/brain.ts';
import type { CallOrigin } from '../../guard/policy/policy.ts';
import type { RefusedPack, SelectedParts, Transcript } from '../../mind/context/context.ts';
import type { GovernedTurn } from './caution-ports.ts';
import type { LiveText } from './live-text.ts';
import type { ParsedCall, TurnDeps } from './ports.ts';

/** `next`: decide again. `rest`: the turn waits or has ended. `halt`: the program is closing; the turn continues at the next start. */
export type Step = 'next' | 'rest' | 'halt';

export interface TurnPlace {
  readonly sessionId: string;
  readonly turnId: string;
}

/** A pack as it was built; later messages are for the next one. */
export interface ShownPack {
  readonly packId: string;
  /** The model it was built for. */
  readonly model: string;
  readonly system: Redacted;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Redacted<ChatMessage>[];
  readonly tail: Redacted | undefined;
  /** The pack that recorded the tail. */
  readonly tailOf: string;
  /** The estimated size of the request. */
  readonly tokens: number;
  readonly counted: EventBodies['pack.built']['counted'];
}

/** The parts chosen for the person's last message. */
export interface ChosenParts {
  readonly words: ChatMessage | undefined;
  readonly parts: SelectedParts;
}

/** The state of a turn's route. */
export interface TurnRoute {
  /** The last choice, and its reason. */
  model: string | null;
  note: RouteNote | null;
  /** Candidates that failed in this step; they are asked again in the next round. */
  readonly tried: Set<string>;
  /** Candidates that are not asked again in this turn. */
  readonly dead: Set<string>;
  /** How often all candidates of this step were tried. */
  rounds: number;
  /** The number of messages checked for private data, and whether any was found. */
  seen: { count: number; isPrivate: boolean };
}

export interface RunningTurn {
  readonly deps: TurnDeps;
  readonly place: TurnPlace;
  readonly state: TurnState;
  /** The model as named: a model, or a route. */
  readonly model: string | null;
  /** Null while no route is in use. */
  route: TurnRoute | null;
  /** The session's own folder; null for the configured workspace. */
  readonly workspace: string | null;
  /** The turns whose work this one continues, oldest first. */
  readonly continues: readonly string[];
  /** The agent, and the door of its turn. */
  readonly origin: CallOrigin;
  readonly helper: HelperOrigin | null;
  /** The agent's text that follows the standing instructions. */
  readonly identity: string;
  /** The governor's view of the turn; null if the governor is off. */
  readonly governed: GovernedTurn | null;
  /** Restrictions in addition to the policy rules; null for a turn without bounds. */
  readonly bounds: TurnBounds | null;
  readonly transcript: Transcript;
  readonly abort: AbortController;
  /** The facts of each call, as last gathered. */
  readonly callFacts: Map<string, CallFacts>;
  /** The parsed arguments of each call, and the text they were parsed from. */
  readonly parsedCalls: Map<string, { readonly given: string; readonly call: ParsedCall }>;
  /** How often each call was judged again because its facts changed before it ran. */
  readonly drifts: Map<string, number>;
  /** The texts that are streaming from this turn. */
  readonly texts: Set<LiveText>;
  /** True once the program is closing: nothing more is recorded. */
  readonly halted: boolean;
  /** Running calls that report how they ended when aborted; on close they get a moment to end normally. */
  readonly reportingCalls: { began(callId: string): void; ended(callId: string): void };
  pack: ShownPack | null;
  /** Parts from memory, documents, skills and identity; chosen again after each message of the person. */
  chosen: ChosenParts | null;
  /** The size of a pack that the model found too large. */
  refused: RefusedPack | null;
  /** The tools offered to the model: the identical list as long as the tools do not change. */
  offered(): readonly ToolSchema[];
  nextPackId(): string;
  emit<T extends EventType>(type: T, body: DraftOf<T>['body'], phase?: Phase | null): void;
  /** Writes recorded events; `barrier` waits for the disk, `alongside` adds rows to the same transaction. */
  flush(barrier?: boolean, alongside?: () => void): void;
  /**
   * Flushes soon, unless the returned function is called before: with listeners as soon as the work just begun is in progress, else after
   * 25 ms. A failure ends the turn.
   */
  flushSoon(isWatched: boolean): () => void;
  /** Flushes before later output is shown. Returns whether there was anything to write. A failure ends the turn once its step is over. */
  writeAhead(): boolean;
}
