// The port through which memory, documents, skills and identity add to a pack: the packer's request, and the parts a source returns.
// Neither side imports the other: compose.ts connects them.

import type { DraftOf, EventType } from './events.ts';
import type { ToolSchema } from './llm.ts';
import type { TaintSource } from './tools.ts';

/** The sections of a pack that sources provide, in their order. */
export const sourceSections = ['identity', 'task', 'project', 'memory', 'knowledge', 'skill_cards', 'skill_excerpt'] as const;
export type SourceSection = (typeof sourceSections)[number];

/** Asked once a turn, and again when the person says something to the turn. */
export interface PackSourceRequest {
  readonly session: string;
  readonly agent: string;
  /** The person's last message; not the whole conversation. */
  readonly query: string;
  /** The tools offered to the model in this turn. */
  readonly tools: readonly ToolSchema[];
  /** Room of the section in the pack's own count. Parts beyond it are cut or dropped, last part first, and the pack says so. */
  readonly tokensMax: number;
  /** Aborts when the turn is stopped, or when the pack no longer waits. */
  readonly signal: AbortSignal;
}

export interface PackPart {
  /** Stable: the same thing has the same id in every pack. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Its origin, for the person: `memory mem_…`, `notes/plan.md:12-40`, `skill weather 1.2.0`. */
  readonly source: string;
  /**
   * For parts whose beginning alone is useful: the maximum length, and the note that ends a cut part. Other parts are included whole or
   * left out.
   */
  readonly cut?: { readonly charsMax: number; readonly note: string };
  /** Higher is better; only shown. */
  readonly score?: number;
  /**
   * The untrusted sources of the part, if any. Such a part is shown as data, marks the session, and is refused in the sections that
   * instruct (identity, task).
   */
  readonly tainted?: readonly TaintSource[];
}

/**
 * Best part first. An empty list where there is nothing. A rejection or a late answer leaves the section out of this pack, with the
 * reason on record; it never fails the turn.
 */
export interface PackSource {
  readonly section: SourceSection;
  /** `note` is for the program's own sources. */
  select(request: PackSourceRequest, note?: NoteEvent): Promise<readonly PackPart[]>;
}

/** Records an event in the turn the pack is for: written together with its other events. */
export type NoteEvent = <T extends EventType>(type: T, body: DraftOf<T>['body']) => void;
