// What becomes a memory without a person, and what never does. The one place that decides it. Pure.

import type { TaintSource } from '../../../contracts/tools.ts';

/** What is known of a proposal, or of a candidate that was brought up again. */
export interface Standing {
  readonly by: 'person' | 'agent' | 'turn' | 'import';
  readonly untrusted: readonly TaintSource[];
  /** Open contradictions with what is kept or proposed. */
  readonly contradictions: number;
  /** Conversations it was brought up in. */
  readonly seenIn: number;
}

/** Brought up in so many conversations, it is no whim. */
export const repeatsNeeded = 2;

/** The rule by which it is kept; null for a candidate, which waits for a person. */
export function ruleFor({ by, untrusted, contradictions, seenIn }: Standing): string | null {
  if (by === 'person') return 'a person added it';
  if (untrusted.length > 0) return null;
  if (by === 'import') return 'a person read it in';
  if (contradictions > 0) return null;
  if (by === 'agent') return 'noted in a conversation that holds no words of others';
  return seenIn >= repeatsNeeded ? `brought up in ${repeatsNeeded} conversations` : null;
}
