// The one gate: every effect of every door asks here. Owns the decision and what an approval would grant; performs nothing.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Approval, Grant, GrantScope, PolicyDecision } from '../../contracts/policy.ts';
import type { CallFacts, ToolClass } from '../../contracts/tools.ts';
import { exactMatch, suggestMatch, type GrantableCall } from './grant-match.ts';
import { decideByRules, type CallTaint } from './policy-rules.ts';
import type { PolicyStore } from './policy-store.ts';

export { PolicyStore, policyMigrations } from './policy-store.ts';
export { ruleIds } from './policy-rules.ts';
export { matches } from './grant-match.ts';

export interface GateRequest {
  readonly callId: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly tool: string;
  readonly args: string;
  readonly argsHash: string;
  readonly facts: CallFacts;
  readonly taint?: CallTaint;
  /** The call in words, without the subject: "write notes.md". */
  readonly summary: string;
}

export interface GateDecision extends PolicyDecision {
  readonly grantId: string | null;
  readonly grantable: boolean;
}

export interface GateDeps {
  readonly store: PolicyStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly panic: { readonly engaged: boolean };
  readonly deniedTools: readonly string[];
  readonly workspace: string;
}

const risks: Readonly<Record<ToolClass, string>> = {
  read: 'It shows the model what it reads; nothing is changed.',
  write: 'It can replace what is in these files.',
  exec: 'It can run any code with your rights: change or delete files, use the network.',
  network: 'What it sends leaves this machine.',
  message: 'What it sends cannot be taken back.',
  spend: 'Money spent may not come back.',
  credential: 'Whoever holds these credentials can act as you.',
  hardware: 'It can disturb or damage attached devices.',
  destructive: 'What it destroys may not come back.',
};

export class PolicyGate {
  readonly #deps: GateDeps;

  constructor(deps: GateDeps) {
    this.#deps = deps;
  }

  authorize(request: Pick<GateRequest, 'sessionId' | 'tool' | 'argsHash' | 'facts'> & { readonly taint?: CallTaint }): GateDecision {
    const { store, clock, panic, deniedTools } = this.#deps;
    const grant = store.findCovering(this.#grantable(request), request.sessionId, clock.nowMs());
    const ruled = decideByRules({
      tool: request.tool,
      facts: request.facts,
      panicEngaged: panic.engaged,
      deniedTools,
      coveredBy:
        grant === null ? null : { grantId: grant.grantId, kind: grant.scope.kind, covers: grant.covers, seen: grant.seenTaint ?? [] },
      taint: request.taint ?? { session: [], derived: [], sensitive: false },
    });
    const byGrant = ruled.decision === 'allow' && ruled.ruleId.startsWith('grant.');
    return {
      decision: ruled.decision,
      ruleId: ruled.ruleId,
      reason: ruled.reason,
      class: request.facts.class,
      facts: request.facts,
      grantId: byGrant && grant !== null ? grant.grantId : null,
      grantable: ruled.grantable,
    };
  }

  /** The question a person is asked for a decision of `ask`. */
  question(request: GateRequest, decision: GateDecision): Approval {
    const wider = decision.grantable ? suggestMatch(this.#grantable(request)).covers : null;
    return {
      approvalId: this.#deps.ids.next('apr'),
      callId: request.callId,
      tool: request.tool,
      summary: `Wants to ${request.summary}`,
      risk: risks[decision.class],
      reason: decision.reason,
      ruleId: decision.ruleId,
      facts: request.facts,
      args: request.args,
      origin: { channel: '', agentId: '', taint: [...(request.taint?.derived ?? [])] },
      widerScope: wider,
      createdAtMs: this.#deps.clock.nowMs(),
      sessionId: request.sessionId,
      turnId: request.turnId,
      state: 'pending',
      decidedAtMs: null,
      decidedBy: null,
      scope: null,
    };
  }

  /** The grant an approved question becomes. A question that is not grantable becomes a grant for this one call only. */
  grantFor(approval: Approval, scope: GrantScope, argsHash: string): Grant {
    const nowMs = this.#deps.clock.nowMs();
    const effective: GrantScope = approval.widerScope === null ? { kind: 'once' } : scope;
    const call = this.#grantable({ tool: approval.tool, argsHash, facts: approval.facts });
    const wide = suggestMatch(call);
    const once = effective.kind === 'once';
    return {
      grantId: this.#deps.ids.next('grt'),
      scope: effective,
      match: once ? exactMatch(call) : wide.match,
      covers: once ? `${approval.tool}, this one call` : wide.covers,
      sessionId: approval.sessionId,
      approvalId: approval.approvalId,
      createdAtMs: nowMs,
      expiresAtMs: effective.kind === 'minutes' ? nowMs + effective.minutes * 60_000 : null,
      revokedAtMs: null,
      spentAtMs: null,
      seenTaint: (approval.origin?.taint ?? []).map((source) => `${source.kind}:${source.where}`),
    };
  }

  #grantable(call: Pick<GateRequest, 'tool' | 'argsHash' | 'facts'>): GrantableCall {
    return { tool: call.tool, argsHash: call.argsHash, facts: call.facts, workspace: this.#deps.workspace };
  }
}
