// The port through which memory, documents, skills and identity add to a context pack: the packer's request, and the parts that a source
// returns. Neither side imports the other; compose.ts connects them.

import type { DraftOf, EventType } from './events.ts';
import type { ToolSchema } from './llm.ts';
import type { TaintSource } from './tools.ts';

/** The sections of a pack that sources provide, in their order. */
export const sourceSections = ['identity', 'task', 'project', 'memory', 'knowledge', 'skill_cards', 'skill_excerpt'] as const;
export type SourceSection = (typeof sourceSections)[number];

/** Sent once per turn, and again when the person steers the turn. */
export interface PackSourceRequest {
  readonly session: string;
  readonly agent: string;
  /** The person's last message, not the whole conversation. */
  readonly query: string;
  /** The tools that are offered to the model in this turn. */
  readonly tools: readonly ToolSchema[];
  /**
   * The space for the section, in the pack's own token count. Parts beyond it are cut or dropped, last part first, and the pack records
   * that.
   */
  readonly tokensMax: number;
  /** Aborts when the turn is stopped, or when the pack no longer waits. */
  readonly signal: AbortSignal;
}

export interface PackPart {
  /** Stable: the same content has the same id in every pack. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Its origin, for the person, such as `memory mem_…`, `notes/plan.md:12-40`, `skill weather 1.2.0`. */
  readonly source: string;
  /**
   * For parts whose beginning alone is useful: the maximum length, and the note that ends a cut part. Other parts are included completely
   * or left out.
   */
  readonly cut?: { readonly charsMax: number; readonly note: string };
  /** Higher is better; only shown. */
  readonly score?: number;
  /**
   * The untrusted sources of the part, if any. Such a part is presented as data, marks the session as tainted, and is refused in the
   * sections that instruct (identity, task).
   */
  readonly tainted?: readonly TaintSource[];
}

/**
 * Returns the best part first, and an empty list if there are none. After a rejection or a late answer, the section is left out of this
 * pack and the reason recorded; the turn never fails.
 */
export interface PackSource {
  readonly section: SourceSection;
  /** `note` is only for the program's own sources. */
  select(request: PackSourceRequest, note?: NoteEvent): Promise<readonly PackPart[]>;
}

/** Records an event in the turn of the pack, together with its other events. */
export type NoteEvent = <T extends EventType>(type: T, body: DraftOf<T>['body']) => void;
