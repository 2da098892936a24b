// What performing a step sees of the turn it belongs to. The runner is the only one that implements it.

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
import type { ParsedCall, TurnDeps } from './ports.ts';

/** `next`: decide again. `rest`: the turn waits or has ended. `halt`: the program is closing; the turn goes on at the next start. */
export type Step = 'next' | 'rest' | 'halt';

export interface TurnPlace {
  readonly sessionId: string;
  readonly turnId: string;
}

/** As it was built: what comes into the conversation afterwards is for the next one. */
export interface ShownPack {
  readonly packId: string;
  /** For whom it was built. */
  readonly model: string;
  readonly system: Redacted;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Redacted<ChatMessage>[];
  readonly tail: Redacted | undefined;
  /** The pack that told the tail. */
  readonly tailOf: string;
  /** Estimated size of the request. */
  readonly tokens: number;
  readonly counted: EventBodies['pack.built']['counted'];
}

/** What was chosen for the words of the person that stood last. */
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
  /** Who is at work, and the door its turn came through. */
  readonly origin: CallOrigin;
  readonly helper: HelperOrigin | null;
  /** Text of its agent that stands below the standing instructions. */
  readonly identity: string;
  /** The governor's view of it; null where the governor is off. */
  readonly governed: GovernedTurn | null;
  /** What it may use beyond what the rules say; null for a turn without bounds. */
  readonly bounds: TurnBounds | null;
  readonly transcript: Transcript;
  readonly abort: AbortController;
  /** What each call touches, as it was last looked at. */
  readonly callFacts: Map<string, CallFacts>;
  /** What each call's arguments say, and the text they were read from. */
  readonly parsedCalls: Map<string, { readonly given: string; readonly call: ParsedCall }>;
  /** How often each call was judged anew because it was another by the time it was to run. */
  readonly drifts: Map<string, number>;
  /** True once the program closes: nothing more is recorded. */
  readonly halted: boolean;
  /** Calls under way that tell how they ended when they are aborted; closing gives them a moment to end by themselves. */
  readonly tellingCalls: { began(callId: string): void; ended(callId: string): void };
  pack: ShownPack | null;
  /** Parts from memory, knowledge, skills and identity; chosen anew when the person says something. */
  chosen: ChosenParts | null;
  /** The size of a pack the model found too large. */
  refused: RefusedPack | null;
  /** What the model is offered: the very same list as long as the tools do not change. */
  offered(): readonly ToolSchema[];
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
