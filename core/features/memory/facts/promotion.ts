// Decides which statements become memories without a person, and which never do. No other code makes this decision. Pure.

import type { TaintSource } from '../../../contracts/tools.ts';

/** The facts about a proposal, or about a candidate that is mentioned again. */
export interface Standing {
  readonly by: 'person' | 'agent' | 'turn' | 'import';
  readonly untrusted: readonly TaintSource[];
  /** Open contradictions with memories or candidates. */
  readonly contradictions: number;
  /** How many conversations mentioned the statement. */
  readonly seenIn: number;
}

/** A statement mentioned in this many conversations is not a passing remark. */
export const repeatsNeeded = 2;

/** The rule by which the statement is kept, or null if it stays a candidate until a person decides. */
export function ruleFor({ by, untrusted, contradictions, seenIn }: Standing): string | null {
  if (by === 'person') return 'a person added it';
  if (untrusted.length > 0) return null;
  if (by === 'import') return 'a person read it in';
  if (contradictions > 0) return null;
  if (by === 'agent') return 'noted in a conversation that holds no words of others';
  return seenIn >= repeatsNeeded ? `brought up in ${repeatsNeeded} conversations` : null;
}
