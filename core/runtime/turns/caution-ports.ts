// Ports that make a turn more careful than the gate requires: the verifier checks single calls, the governor follows the whole turn. Their
// types cannot express that a call is allowed.

import type { TurnEvent } from '../../agent/brain/brain.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { ToolClass } from '../../contracts/tools.ts';
import type { BudgetPlace } from '../../guard/budget/budget.ts';
import type { GateDecision, GateRequest } from '../../guard/policy/policy.ts';
import type { Tightening } from './tighten.ts';

/** A second check of a call before it runs or a person is asked. It can only make the decision stricter. */
export interface VerifyPort {
  /** Returns whether every call of the class is verified. */
  covers(toolClass: ToolClass): boolean;
  /** Never rejects; failures are part of the result. */
  verify(
    about: {
      readonly request: GateRequest;
      readonly decision: GateDecision;
      /** The last message of the person. */
      readonly said: string;
      /** The budget that pays. */
      readonly place: Omit<BudgetPlace, 'nowMs'>;
    },
    signal: AbortSignal,
  ): Promise<Omit<EventBodies['call.verified'], 'callId' | 'ruleId'>>;
}

/** Follows turns, and reports where more caution is due than the gate requires. Pure except for what it remembers of a session. */
export interface GovernorPort {
  follow(place: { readonly sessionId: string; readonly turnId: string }): GovernedTurn;
}

export interface GovernedTurn {
  apply(event: TurnEvent): void;
  /** Null if no rule fires. */
  assessCall(request: GateRequest, decision: GateDecision, place: BudgetPlace): Assessment | null;
  /** Assesses a turn that is about to end with an answer. */
  assessAnswer(): EventBodies['governor.assessed'] | null;
  /** The model for the rest of the turn. */
  modelFor(model: string): string;
}

export interface Assessment {
  readonly event: EventBodies['governor.assessed'];
  /** The stricter decision; null if the rules leave it unchanged. */
  readonly tightening: Tightening | null;
  /** The rule that requires a verification; null if none does. */
  readonly verify: { readonly ruleId: string; readonly otherwise: Tightening } | null;
}
