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

/** As it was built: later messages are for the next one. */
export interface ShownPack {
  readonly packId: string;
  /** For whom it was built. */
  readonly model: string;
  readonly system: Redacted;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Redacted<ChatMessage>[];
  readonly tail: Redacted | undefined;
  /** The pack that recorded the tail. */
  readonly tailOf: string;
  /** Estimated size of the request. */
  readonly tokens: number;
  readonly counted: EventBodies['pack.built']['counted'];
}

/** The parts chosen for the person's last message. */
export interface ChosenParts {
  readonly words: ChatMessage | undefined;
  readonly parts: SelectedParts;
}

/** Where the route of a turn stands. */
export interface TurnRoute {
  /** Chosen last, and why. */
  model: string | null;
  note: RouteNote | null;
  /** Asked in this step without success; asked again in the next round. */
  readonly tried: Set<string>;
  /** Not asked again in this turn. */
  readonly dead: Set<string>;
  /** How often the candidates of this step were gone through. */
  rounds: number;
  /** Messages looked through for private data, and whether there is any. */
  seen: { count: number; isPrivate: boolean };
}

export interface RunningTurn {
  readonly deps: TurnDeps;
  readonly place: TurnPlace;
  readonly state: TurnState;
  /** As it was named: a model, or a route. */
  readonly model: string | null;
  /** Null while no route is in use. */
  route: TurnRoute | null;
  /** The session's own folder; null for the configured workspace. */
  readonly workspace: string | null;
  /** Turns whose work this one takes up, oldest first. */
  readonly continues: readonly string[];
  /** The agent, and the door of its turn. */
  readonly origin: CallOrigin;
  readonly helper: HelperOrigin | null;
  /** Its agent's text that follows the standing instructions. */
  readonly identity: string;
  /** The governor's view of it; null where the governor is off. */
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
  /** Texts that are streaming from it. */
  readonly texts: Set<LiveText>;
  /** True once the program closes: nothing more is recorded. */
  readonly halted: boolean;
  /** Running calls that report how they ended when aborted; closing gives them a moment to end normally. */
  readonly tellingCalls: { began(callId: string): void; ended(callId: string): void };
  pack: ShownPack | null;
  /** Parts from memory, documents, skills and identity; chosen again after each message of the person. */
  chosen: ChosenParts | null;
  /** The size of a pack the model found too large. */
  refused: RefusedPack | null;
  /** The tools offered to the model: the identical list as long as the tools do not change. */
  offered(): readonly ToolSchema[];
  nextPackId(): string;
  emit<T extends EventType>(type: T, body: DraftOf<T>['body'], phase?: Phase | null): void;
  /** Writes recorded events; `barrier` waits for the disk, `alongside` adds rows to the same transaction. */
  flush(barrier?: boolean, alongside?: () => void): void;
  /**
   * Flushes soon, unless the returned function is called before: with listeners as soon as the work just begun is under way, else after 25
   * ms. A failure ends the turn.
   */
  flushSoon(isWatched: boolean): () => void;
  /** Flushes before later output is shown. Returns whether there was anything. A failure ends the turn once its step is over. */
  writeAhead(): boolean;
}
