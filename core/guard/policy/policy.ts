// The policy gate: every effect from every entry point is decided here. Owns the decision and the grants an approval would create; performs
// nothing.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Config } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import {
  configApprovalId,
  type Approval,
  type Grant,
  type GrantChoice,
  type GrantScope,
  type PolicyDecision,
} from '../../contracts/policy.ts';
import { graveKind, type GraveKind } from '../../contracts/grave-calls.ts';
import type { CallFacts, CallTaint, TaintSource, ToolClass } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import { openWorkspaceTool } from '../../contracts/workspace-ops.ts';
import { bindingsHash, callBindings, changedBindings } from './bindings.ts';
import { riskOf } from './call-risk.ts';
import { allSources, taintKey } from './call-taint.ts';
import { ConfigRules, type CallOrigin, type ListedTool, type MatchedRule, type RuledCall, type RuleReading } from './config-rules.ts';
import { showsMore } from './edited-call.ts';
import { choicesFor } from './grant-choices.ts';
import { exactMatch, isOfWords, matches, type GrantableCall } from './grant-match.ts';
import { decideByRules, type RuleInput } from './policy-rules.ts';
import { reaches, type GrantMoment, type PolicyStore } from './policy-store.ts';
import { AllowedCommands, cwdOf, judgePreApproval, staysInside, type PreApproval } from './pre-approved.ts';
import { RateLimits } from './rate-limits.ts';

export type { CallOrigin, DomainSets } from './config-rules.ts';
export { hasRunOut, matches } from './grant-match.ts';
export { hiddenRules } from './hidden-rules.ts';
export { AllowedCommands } from './pre-approved.ts';
export { bindingsHash } from './bindings.ts';
export { decideByRules, ruleIds } from './policy-rules.ts';
export { PolicyStore, policyMigrations } from './policy-store.ts';

/** The inputs of a decision. */
export interface JudgedCall extends RuledCall {
  readonly sessionId: string;
  readonly argsHash: string;
  readonly taint: CallTaint;
  readonly bounds?: TurnBounds;
  /**
   * Set for the second check right before the call runs, with the grant that allowed it. Rate limits and untrusted sources were already
   * counted at the first check.
   */
  readonly dispatch?: { readonly grantId: string | null };
}

export interface GateRequest extends JudgedCall {
  readonly callId: string;
  readonly turnId: string;
  readonly args: string;
  /** Describes the call, without the subject: "write notes.md". */
  readonly summary: string;
}

export interface GateDecision extends PolicyDecision {
  readonly grantId: string | null;
  readonly grantable: boolean;
  /**
   * Set if a command allowed by config.yaml runs for the first time. This grant binds the command and must be recorded with the decision.
   */
  readonly firstUse: Grant | null;
}

export interface GateDeps extends RuleReading {
  readonly store: PolicyStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly panic: { readonly engaged: boolean };
  readonly policy: Config['policy'];
  /** Real paths of additional folders the person opened. */
  readonly extraFolders: readonly string[];
  /** By tool name: hosts that the tool may read from in addition to those in policy.allowDomains. */
  readonly hostsOfTools?: Readonly<Record<string, readonly string[]>>;
  /** Returns whether commands that run without an approval are sandboxed here. */
  readonly confines: () => boolean;
}

const graveWords: Readonly<Record<GraveKind, string>> = {
  destructive: 'This destroys something that may not come back.',
  credential: 'This uses keys or passwords.',
  spend: 'This spends money.',
  'network-code': 'This runs code straight from the network.',
};

/** The classes that locked-down mode still allows: reads, and commands that only read. */
const lockedClasses: readonly ToolClass[] = ['read', 'exec'];

export class PolicyGate {
  readonly #deps: GateDeps;
  readonly #rules: ConfigRules;
  readonly #allowedDomains: { covers(host: string): boolean };
  readonly #hostsOfTools: ReadonlyMap<string, { covers(host: string): boolean }>;
  readonly #allowedCommands: AllowedCommands;
  readonly #rates: RateLimits;

  constructor(deps: GateDeps) {
    this.#deps = deps;
    this.#rules = new ConfigRules(deps.policy.rules, deps);
    this.#allowedDomains = deps.domains(deps.policy.allowDomains);
    this.#hostsOfTools = new Map(Object.entries(deps.hostsOfTools ?? {}).map(([tool, hosts]) => [tool, deps.domains(hosts)]));
    this.#allowedCommands = new AllowedCommands(deps.policy.allowCommands, deps.entryWords);
    this.#rates = new RateLimits(deps.clock, deps.policy.limits.callsPerMinute);
  }

  get mode(): Config['policy']['mode'] {
    return this.#deps.policy.mode;
  }

  /** Returns a predicate for tools whose every call from `origin` is denied by config.yaml, or null if no whole tool is denied. */
  toolRefusal(origin: CallOrigin): ((tool: ListedTool) => boolean) | null {
    const { denyTools, mode } = this.#deps.policy;
    const isLocked = mode === 'locked-down';
    if (denyTools.length === 0 && !isLocked && !this.#rules.refusesTools) return null;
    return (tool) =>
      denyTools.includes(tool.name) || (isLocked && !lockedClasses.includes(tool.class)) || this.#rules.refusesAlways(tool, origin);
  }

  /** Decides about a call. Counts and stores nothing. */
  authorize(request: JudgedCall): GateDecision {
    const { tool, facts } = request;
    const rule = this.#rules.firstFor(request);
    const covering = this.#covering(request);
    const preApproved = this.#preApproval(tool, facts, rule);
    const ruled = decideByRules(this.#inputOf(request, { rule, covering, preApproved }));
    const { decision, ruleId, reason, grantable } = ruled;
    const made = { decision, ruleId, reason, class: facts.class, facts, grantable };
    if (decision !== 'allow') return { ...made, grantId: null, firstUse: null };
    if (ruleId.startsWith('grant.')) return { ...made, grantId: covering.grant?.grantId ?? null, firstUse: null };
    const firstUse = byWordsOfConfig(ruleId, rule) ? this.#firstUse(request, preApproved) : null;
    const bound = byWordsOfConfig(ruleId, rule) ? (firstUse ?? preApproved?.grant) : null;
    return { ...made, grantId: bound?.grantId ?? null, firstUse };
  }

  #inputOf(request: JudgedCall, found: Found): RuleInput {
    const { policy, panic } = this.#deps;
    const { tool, facts, taint, dispatch, bounds } = request;
    const { grant, unseen, outdated } = found.covering;
    return {
      tool,
      facts,
      taint,
      outdated,
      rule: found.rule,
      preApproved: found.preApproved,
      panicEngaged: panic.engaged,
      deniedTools: policy.denyTools,
      mode: policy.mode,
      overLimit: dispatch === undefined ? this.#rates.over(request) : null,
      staysInside: staysInside(facts, [workspaceOf(facts, this.#deps), ...this.#deps.extraFolders]),
      grant: grant === null ? null : { kind: grant.scope.kind, covers: grant.covers, unseen },
      domainsAllowed: facts.hosts.length > 0 && facts.hosts.every((host) => this.#covers(tool, host)),
      bounds: bounds === undefined ? null : { bounds, coversHost: this.#hostsOf(bounds) },
    };
  }

  #covers(tool: string, host: string): boolean {
    return this.#allowedDomains.covers(host) || this.#hostsOfTools.get(tool)?.covers(host) === true;
  }

  #hostsOf({ hosts }: TurnBounds): (host: string) => boolean {
    if (hosts === null) return () => true;
    const listed = this.#deps.domains(hosts);
    return (host) => listed.covers(host);
  }

  /** The grant that covers the call. If none does, the grant that would cover it if the command's bindings had not changed. */
  #covering(request: JudgedCall): Covering {
    const { store, clock } = this.#deps;
    const { facts, sessionId, taint, dispatch } = request;
    const bindings = callBindings(facts) ?? [];
    const call = { ...this.#grantable(request), ...(bindings.length === 0 ? {} : { boundTo: bindingsHash(bindings) }) };
    const only = dispatch === undefined ? {} : { only: dispatch.grantId };
    const isGrave = graveKind(facts) !== null;
    const at: GrantMoment = { sessionId, nowMs: clock.nowMs(), derived: taint.derived, onlyOnce: isGrave, ...only };
    const found = store.findCovering(call, at);
    if (found !== null) return { ...found, outdated: null };
    const old = bindings.length === 0 ? null : store.findOutdated(call, at);
    const outdated = old === null ? null : { covers: old.covers, changes: changedBindings(old.bindings, bindings, call.workspace) };
    return { grant: null, unseen: [], outdated };
  }

  /** Counts a call for the limits per minute; called once for each allowed call. Bound, so that a wrapper of the gate can pass it on. */
  readonly count = (call: Pick<JudgedCall, 'tool' | 'facts'>): void => {
    this.#rates.count(call);
  };

  /** Returns the scopes wider than once that would be offered for the call. Empty if only once is possible. */
  choices(request: Pick<JudgedCall, 'tool' | 'argsHash' | 'facts'>, decision: Pick<GateDecision, 'decision' | 'grantable'>): GrantChoice[] {
    const canWiden = decision.decision === 'ask' && decision.grantable && graveKind(request.facts) === null;
    return canWiden ? [...choicesFor(this.#grantable(request))] : [];
  }

  /** Creates the approval for a decision of `ask`. */
  createApproval(request: GateRequest, decision: GateDecision): Approval {
    const choices = this.choices(request, decision);
    const unattended = request.bounds?.unattended ?? null;
    const nowMs = this.#deps.clock.nowMs();
    return {
      approvalId: this.#deps.ids.next('apr'),
      callId: request.callId,
      tool: request.tool,
      summary: `Wants to ${request.summary}`,
      risk: riskOf(request.facts, decision.class),
      reason: decision.reason,
      ruleId: decision.ruleId,
      facts: request.facts,
      args: request.args,
      widerScope: choices[0]?.covers ?? null,
      ...(choices.length === 0 ? {} : { choices }),
      origin: { ...request.origin, taint: allSources(request.taint) },
      createdAtMs: nowMs,
      ...(unattended === null ? {} : { dueAtMs: nowMs + unattended.approvalMs }),
      sessionId: request.sessionId,
      turnId: request.turnId,
      state: 'pending',
      decidedAtMs: null,
      decidedBy: null,
      scope: null,
    };
  }

  /**
   * Creates the grant for an approved call; `choice` is an index into the approval's `choices`. If the approval is not grantable, the grant
   * covers this one call only. Fails with `invalid_params` if there is no such choice, or if a scope wider than once is requested for a
   * grave call.
   */
  grantFor(approval: Approval, scope: GrantScope, argsHash: string, choice = 0): Grant {
    const grave = graveKind(approval.facts);
    if (grave !== null && scope.kind !== 'once') {
      throw new AppError('invalid_params', `${graveWords[grave]} It can be approved for this one call only.`, {
        hint: 'Approve it once. Nothing was decided; the question still waits.',
      });
    }
    const nowMs = this.#deps.clock.nowMs();
    const call = this.#grantable({ tool: approval.tool, argsHash, facts: approval.facts });
    const base = { sessionId: approval.sessionId, approvalId: approval.approvalId, nowMs, seen: approval.origin?.taint ?? [] };
    if (approval.facts.opens !== undefined) return this.trustFor(approval.facts.opens, base);
    if (scope.kind === 'once' || approval.widerScope === null) {
      return this.#grant({ ...base, scope: { kind: 'once' }, match: exactMatch(call), covers: `${approval.tool}, this one call` });
    }
    const choices = approval.choices ?? choicesFor(call);
    const chosen = choices[choice];
    if (chosen === undefined) {
      throw new AppError('invalid_params', `There is no choice ${choice}.`, { hint: `Choose 0 to ${choices.length - 1}.` });
    }
    return this.#grant({ ...base, ...chosen, scope, facts: approval.facts });
  }

  /**
   * Creates the once grant for a call that the person changed. Returns null if the approval did not show everything the changed call can
   * do: the call then needs another approval. Fails with `denied` if no approval would help.
   */
  grantForEdited(approval: Approval, edited: Pick<JudgedCall, 'argsHash' | 'facts'>): Grant | null {
    const { tool, sessionId } = approval;
    const { taint = [], ...origin } = approval.origin ?? { channel: '', agentId: '' };
    const judged = this.authorize({ ...edited, tool, sessionId, origin, taint: { session: taint, derived: taint, sensitive: false } });
    if (judged.decision === 'deny') {
      const data = { hint: 'Nothing was decided; the question still waits. Change the call in another way, or deny it.' };
      throw new AppError('denied', `The changed call is not allowed: ${judged.reason}`, { data });
    }
    if (showsMore(approval.facts, edited.facts) || (judged.decision === 'ask' && !judged.grantable)) return null;
    return this.grantFor({ ...approval, facts: edited.facts, widerScope: null }, { kind: 'once' }, edited.argsHash);
  }

  /** Creates the grant by which a person trusts a folder as a workspace, until it is revoked. */
  trustFor(
    { path, identity }: NonNullable<CallFacts['opens']>,
    given: Pick<NewGrant, 'sessionId' | 'approvalId' | 'nowMs'> & Partial<Pick<NewGrant, 'seen'>>,
  ): Grant {
    const match = { kind: 'workspace' as const, tool: openWorkspaceTool, folder: path, identity } as const;
    return this.#grant({ ...given, seen: [], scope: { kind: 'always' }, match, covers: `work in ${path} and below` });
  }

  /** Approving a changed command of config.yaml binds it to its current form. Returns the replacement, or null for any other approval. */
  rebind(approval: Approval): { readonly created: Grant; readonly revoked: readonly string[] } | null {
    if (approval.ruleId !== 'command.changed') return null;
    const { tool, facts, sessionId } = approval;
    const origin = approval.origin ?? { channel: '', agentId: '' };
    const pre = this.#preApproval(tool, facts, this.#rules.firstFor({ tool, facts, origin }));
    if ((pre?.state !== 'changed' && pre?.state !== 'written') || pre.match === null) return null;
    const created = this.#configGrant({ sessionId, facts }, pre.match, pre.covers);
    // A grant for another folder stays bound to the content there, so it is not revoked.
    return { created, revoked: pre.grant !== null && cwdOf(pre.grant.match) === cwdOf(pre.match) ? [pre.grant.grantId] : [] };
  }

  /** Returns whether a new grant also answers another pending approval, so that the person is not asked twice. */
  answers(grant: Grant, approval: Approval, argsHash: string): boolean {
    const { opens } = approval.facts;
    if (grant.match.kind === 'workspace' || opens !== undefined)
      return grant.match.kind === 'workspace' && opens?.path === grant.match.folder && opens.identity === grant.match.identity;
    if (grant.scope.kind === 'once' || approval.widerScope === null || !reaches(grant, approval.sessionId)) return false;
    if (graveKind(approval.facts) !== null) return false;
    const seen = grant.seenTaint ?? [];
    const known = (approval.origin?.taint ?? []).every((source) => seen.includes(taintKey(source)));
    return known && matches(grant.match, this.#grantable({ tool: approval.tool, argsHash, facts: approval.facts }));
  }

  #preApproval(tool: string, facts: CallFacts, rule: MatchedRule | null): PreApproval | null {
    const { store, extraFolders, confines } = this.#deps;
    const { command } = facts;
    if (command === null) return null;
    if (rule?.allowsCommand !== true && !this.#allowedCommands.covers(command)) return null;
    const workspace = workspaceOf(facts, this.#deps);
    return judgePreApproval(tool, command, {
      grants: store.configGrants(),
      workspace,
      roots: [workspace, ...extraFolders],
      writes: store,
      confines,
    });
  }

  #firstUse(request: JudgedCall, pre: PreApproval | null): Grant | null {
    return pre?.state === 'first' && pre.match !== null ? this.#configGrant(request, pre.match, pre.covers) : null;
  }

  #configGrant({ sessionId, facts }: Pick<JudgedCall, 'sessionId' | 'facts'>, match: GrantChoice['match'], covers: string): Grant {
    const nowMs = this.#deps.clock.nowMs();
    return this.#grant({ scope: { kind: 'always' }, match, covers, sessionId, approvalId: configApprovalId, nowMs, seen: [], facts });
  }

  #grant(given: NewGrant): Grant {
    const { scope, match, covers, sessionId, approvalId, nowMs } = given;
    const isBound = isOfWords(match) && match.bindingsHash !== undefined;
    const bindings = isBound && given.facts !== undefined ? callBindings(given.facts) : null;
    return {
      grantId: this.#deps.ids.next('grt'),
      scope,
      match,
      covers,
      sessionId,
      approvalId,
      createdAtMs: nowMs,
      expiresAtMs: scope.kind === 'minutes' ? nowMs + scope.minutes * 60_000 : null,
      revokedAtMs: null,
      spentAtMs: null,
      ...(given.seen.length === 0 ? {} : { seenTaint: given.seen.map(taintKey) }),
      ...(bindings === null ? {} : { bindings: [...bindings] }),
    };
  }

  #grantable(call: Pick<GateRequest, 'tool' | 'argsHash' | 'facts'>): GrantableCall {
    return { tool: call.tool, argsHash: call.argsHash, facts: call.facts, workspace: workspaceOf(call.facts, this.#deps) };
  }
}

interface Covering {
  readonly grant: Grant | null;
  readonly unseen: readonly TaintSource[];
  readonly outdated: RuleInput['outdated'];
}

interface Found {
  readonly rule: MatchedRule | null;
  readonly covering: Covering;
  readonly preApproved: PreApproval | null;
}

interface NewGrant extends GrantChoice {
  readonly scope: GrantScope;
  readonly sessionId: string;
  readonly approvalId: string;
  readonly nowMs: number;
  readonly seen: NonNullable<Approval['origin']>['taint'];
  readonly facts?: CallFacts;
}

/** The workspace of a call: the session's own folder, or the configured one. */
function workspaceOf(facts: CallFacts, { workspace }: Pick<GateDeps, 'workspace'>): string {
  return facts.workspace ?? workspace;
}

/** Returns whether config.yaml allowed a command by its words, bound to its form at the first run. */
function byWordsOfConfig(ruleId: string, rule: MatchedRule | null): boolean {
  return ruleId === 'command.allowed' || (ruleId === 'rule.allow' && rule?.allowsCommand === true);
}
