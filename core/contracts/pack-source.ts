// The seam by which memory, knowledge, skills and identity reach a pack: what the packer asks of them, and what they hand back.
// Neither side knows the other: compose.ts hands the sources in.

import type { ToolSchema } from './llm.ts';
import type { TaintSource } from './tools.ts';

/** The parts of a pack that come from elsewhere, in the order they stand in it. */
export const sourceSections = ['identity', 'task', 'project', 'memory', 'knowledge', 'skill_cards', 'skill_excerpt'] as const;
export type SourceSection = (typeof sourceSections)[number];

/** Asked once a turn, and again when the person says something to the turn. */
export interface PackSourceRequest {
  readonly session: string;
  readonly agent: string;
  /** What the person said last; not the whole conversation. */
  readonly query: string;
  /** What the model is offered in this turn. */
  readonly tools: readonly ToolSchema[];
  /** Room of the section, counted with the pack's own count. What goes beyond it is cut or dropped, last part first, and said so. */
  readonly tokensMax: number;
  /** Aborts when the turn is stopped, or when the pack no longer waits. */
  readonly signal: AbortSignal;
}

export interface PackPart {
  /** Stable: the same thing has the same id in every pack. */
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Where it comes from, for the person: `memory mem_…`, `notes/plan.md:12-40`, `skill weather 1.2.0`. */
  readonly source: string;
  /** Where its beginning alone is of use: how much of it is shown at most, and the note that ends it when cut. Else it is whole or left out. */
  readonly cut?: { readonly charsMax: number; readonly note: string };
  /** Higher is better; only shown. */
  readonly score?: number;
  /**
   * Whose words these are where they may not be the person's own. Such a part is shown as material, marks the session, and
   * is refused in the sections that instruct (identity, task).
   */
  readonly tainted?: readonly TaintSource[];
}

/**
 * Best part first. An empty list where there is nothing. A rejection or a late answer leaves the section out of this pack, with the
 * reason on record; it never fails the turn.
 */
export interface PackSource {
  readonly section: SourceSection;
  select(request: PackSourceRequest): Promise<readonly PackPart[]>;
}
