// Decides what becomes a memory without a person, and what never does. The only place that does. Pure.

import type { TaintSource } from '../../../contracts/tools.ts';

/** The facts about a proposal, or about a candidate that is mentioned again. */
export interface Standing {
  readonly by: 'person' | 'agent' | 'turn' | 'import';
  readonly untrusted: readonly TaintSource[];
  /** Open contradictions with memories or candidates. */
  readonly contradictions: number;
  /** Conversations that mentioned it. */
  readonly seenIn: number;
}

/** The number of conversations after which it is no passing remark. */
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
