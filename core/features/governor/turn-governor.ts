// The running governor: follows each turn, and remembers the hosts and commands that each session has used. They are read from the log
// once, when a call needs them.

import { NewestMap } from '../../base/newest-map.ts';
import type { Clock } from '../../base/clock.ts';
import type { Assessed, GovernorConfig } from '../../contracts/features/governor.ts';
import type { TurnEvent } from '../../agent/brain/brain.ts';
import type { BudgetBook, BudgetPlace } from '../../guard/budget/budget.ts';
import type { GateDecision, GateRequest, PolicyStore } from '../../guard/policy/policy.ts';
import type { Assessment, GovernedTurn, GovernorPort } from '../../runtime/turns/turns.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { assessAnswer, assessCall } from './assess.ts';
import { applyToFollowed, follow, note, type Familiar, type Followed } from './signals.ts';

export interface TurnGovernorDeps {
  readonly config: GovernorConfig;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly log: Pick<SessionLog, 'reads'>;
  readonly policy: Pick<PolicyStore, 'grant'>;
  readonly budget: Pick<BudgetBook, 'states'>;
  /** Whether any budget is set. Without one the spent share is 0. */
  readonly hasLimits: boolean;
}

/** Sessions beyond this number are evicted, least recently used first, and read again when needed. */
const SESSIONS_MAX = 200;
const DECISIONS_READ = 500;
const DAY_MS = 86_400_000;

export class TurnGovernor implements GovernorPort {
  readonly #deps: TurnGovernorDeps;
  readonly #sessions = new NewestMap<string, Familiar & { isRead: boolean }>(SESSIONS_MAX);

  constructor(deps: TurnGovernorDeps) {
    this.#deps = deps;
  }

  follow({ sessionId }: { readonly sessionId: string; readonly turnId: string }): GovernedTurn {
    const familiar = this.#familiar(sessionId);
    const turn = follow(familiar);
    const { config } = this.#deps;
    return {
      apply: (event: TurnEvent) => {
        applyToFollowed(turn, event);
      },
      assessCall: (request, decision, place) => this.#assess(turn, { request, decision, place, familiar }),
      assessAnswer: (): Assessed | null => assessAnswer(turn, config),
      modelFor: (model) => modelFor(turn, model, config),
    };
  }

  #assess(
    turn: Followed,
    call: { request: GateRequest; decision: GateDecision; place: BudgetPlace; familiar: Familiar & { isRead: boolean } },
  ): Assessment | null {
    const { request, decision, place, familiar } = call;
    const { facts, taint, sessionId, callId } = request;
    if (!familiar.isRead && (facts.hosts.length > 0 || facts.command !== null)) this.#read(sessionId, familiar);
    const moment = {
      facts,
      taint: { session: taint.session.length, derived: taint.derived.length },
      budget: this.#spentPercent(place),
      grantAgeDays: this.#grantAgeDays(decision.grantId),
    };
    return assessCall(turn, { ...moment, callId, decision: decision.decision }, this.#deps.config);
  }

  /** The spent share of the tightest limit, in percent. */
  #spentPercent(place: BudgetPlace): number {
    if (!this.#deps.hasLimits) return 0;
    const { sessionId, nowMs } = place;
    const states = this.#deps.budget.states({ turn: place, sessionId, nowMs });
    const shares = states.flatMap(({ limit, spent, reserved }) =>
      limit === null ? [] : [limit === 0 ? 100 : ((spent + reserved) / limit) * 100],
    );
    return Math.round(Math.max(0, ...shares));
  }

  #grantAgeDays(grantId: string | null): number {
    const grant = grantId === null ? null : this.#deps.policy.grant(grantId);
    return grant === null ? 0 : Math.max(0, Math.floor((this.#deps.clock.nowMs() - grant.createdAtMs) / DAY_MS));
  }

  #familiar(sessionId: string): Familiar & { isRead: boolean } {
    const known = this.#sessions.get(sessionId) ?? { hosts: new Set<string>(), commands: new Set<string>(), isRead: false };
    this.#sessions.delete(sessionId);
    this.#sessions.set(sessionId, known);
    return known;
  }

  #read(sessionId: string, familiar: Familiar & { isRead: boolean }): void {
    familiar.isRead = true;
    const query = { types: ['policy.decided'] as const, limit: DECISIONS_READ, newest: true };
    for (const event of this.#deps.log.reads.slice(sessionId, query)) {
      if (event.type === 'policy.decided' && event.body.decision !== 'deny') note(familiar, event.body.facts);
    }
  }
}

/** The model for the turn. A model that the person chose for this message is kept. */
function modelFor(turn: Followed, model: string, { stronger, cheaper }: GovernorConfig): string {
  if (turn.isChosen || turn.model === 'own') return model;
  return (turn.model === 'stronger' ? stronger : cheaper) ?? model;
}
