// Makes the gate's decision on a call stricter, for hooks, the governor and verifiers. Cannot allow a call.

import type { GateDecision } from '../../guard/policy/policy.ts';

/** A stricter replacement for a decision. */
export interface Tightening {
  readonly decision: 'ask' | 'deny';
  readonly ruleId: string;
  readonly reason: string;
}

/** Returns the stricter of the two. No grant replaces the person's answer here, because it was given before this was known. */
export function tighten(decision: GateDecision, to: Tightening | null): GateDecision {
  if (to === null || decision.decision === 'deny') return decision;
  if (to.decision === 'ask' && decision.decision === 'ask') {
    // The reason of the policy rule comes first, then the added one.
    return { ...decision, reason: `${decision.reason} ${to.reason}`, grantable: false };
  }
  return { ...decision, ...to, grantId: null, grantable: false, firstUse: null };
}
