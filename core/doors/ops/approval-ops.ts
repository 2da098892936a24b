// Operations on approvals, grants, unknown outcomes and the panic stop: the answers only a person gives.

import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Approval, Grant, GrantScope } from '../../contracts/policy.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';
import { previewGrant } from './grant-preview.ts';

type Deps = Pick<OpsParts, 'clock' | 'facts' | 'gate' | 'log' | 'panic' | 'policy' | 'runtime' | 'tools'>;

type ApprovalOps = Pick<
  OpHandlers,
  'approval.list' | 'approval.decide' | 'grant.list' | 'grant.revoke' | 'grant.preview' | 'outcome.list' | 'outcome.settle'
>;

export function createApprovalOps(deps: Deps): ApprovalOps {
  return {
    'approval.list': (params) => ({ approvals: params.all === true ? deps.policy.recentApprovals() : deps.policy.pendingApprovals() }),
    'approval.decide': (params, caller) => decideApproval(deps, params, caller),
    'grant.list': (params) => ({ grants: deps.policy.listGrants(params.all === true, deps.clock.nowMs()) }),
    'grant.revoke': (params, caller) => {
      const grant = deps.policy.grant(params.grantId);
      if (grant === null) throw new AppError('not_found', `There is no grant ${params.grantId}.`);
      if (grant.revokedAtMs === null)
        deps.log.append(systemSessionId, [{ type: 'grant.revoked', body: { grantId: params.grantId, by: caller.actor } }], true);
      return deps.policy.grant(params.grantId) ?? grant;
    },
    'grant.preview': (params) => previewGrant(deps, params),
    'outcome.list': () => ({ outcomes: listOutcomes(deps) }),
    'outcome.settle': (params, caller) => settleOutcome(deps, params, caller),
  };
}

function decideApproval(deps: Deps, params: OpParsed<'approval.decide'>, caller: Caller): Approval {
  const approval = deps.policy.approval(params.approvalId);
  if (approval === null) throw new AppError('not_found', `There is no approval ${params.approvalId}.`);
  if (approval.state !== 'pending') {
    throw new AppError(
      'approval_not_pending',
      `This was already answered: ${approval.state}${approval.decidedBy === null ? '' : ` by ${approval.decidedBy}`}.`,
    );
  }
  if (params.decision === 'deny') {
    answer(deps, approval, { decision: 'deny', scope: null, by: caller.actor, grant: null, ...reasonOf(params) });
    return deps.policy.approval(params.approvalId) ?? approval;
  }
  if (params.reason !== undefined) throw new AppError('invalid_params', 'A reason can only be given when denying.');
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
  const scope: GrantScope = params.scope ?? { kind: 'once' };
  const grant = deps.gate.grantFor(approval, scope, hashOf(deps, approval), params.choice);
  answer(deps, approval, { decision: 'approve', scope: grant.scope, by: caller.actor, grant, rebound: deps.gate.rebind(approval) });
  if (grant.scope.kind !== 'once') approveCovered(deps, grant);
  return deps.policy.approval(params.approvalId) ?? approval;
}

function reasonOf({ reason }: OpParsed<'approval.decide'>): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

interface Answer {
  readonly decision: 'approve' | 'deny';
  readonly scope: GrantScope | null;
  readonly by: string;
  /** With a denial: the reason for the agent. */
  readonly reason?: string;
  /** A grant that this answer creates. */
  readonly grant: Grant | null;
  /** A grant that was there and covers the call. */
  readonly coveredBy?: string;
  /** A command of config.yaml, which is now bound to its current form. */
  readonly rebound?: ReturnType<OpsParts['gate']['rebind']>;
}

function answer(deps: Deps, approval: Approval, given: Answer): void {
  const decided: AnyDraft = {
    type: 'approval.decided',
    turnId: approval.turnId ?? null,
    phase: 'policy-gate',
    body: {
      approvalId: approval.approvalId,
      callId: approval.callId,
      decision: given.decision,
      scope: given.scope,
      by: given.by,
      grantId: given.grant?.grantId ?? given.coveredBy ?? null,
      ...(given.reason === undefined ? {} : { reason: given.reason }),
    },
  };
  const { grant } = given;
  const createGrant = (): void => {
    const drafts: AnyDraft[] = [
      ...(given.rebound?.revoked ?? []).map((grantId): AnyDraft => ({ type: 'grant.revoked', body: { grantId, by: given.by } })),
      ...[grant, given.rebound?.created ?? null].flatMap((one): AnyDraft[] =>
        one === null ? [] : [{ type: 'grant.created', body: { grant: one } }],
      ),
    ];
    if (drafts.length > 0) deps.log.append(systemSessionId, drafts);
  };
  deps.runtime.appendToTurn(approval.sessionId, approval.turnId ?? '', [decided], createGrant);
  if (approval.turnId !== undefined) deps.runtime.continueTurn(approval.turnId);
}

/** A wider grant also answers the pending approvals it covers, so that none is asked twice. */
function approveCovered(deps: Deps, grant: Grant): void {
  for (const approval of deps.policy.pendingApprovals()) {
    if (!deps.gate.answers(grant, approval, hashOf(deps, approval))) continue;
    answer(deps, approval, {
      decision: 'approve',
      scope: grant.scope,
      by: `the grant ${grant.grantId}`,
      grant: null,
      coveredBy: grant.grantId,
    });
  }
}

function hashOf(deps: Deps, approval: Approval): string {
  const parsed = deps.tools.parse(approval.tool, approval.args);
  if (!parsed.ok) throw parsed.error;
  return parsed.value.argsHash;
}

function listOutcomes(deps: Deps): Awaited<ReturnType<OpHandlers['outcome.list']>>['outcomes'] {
  return deps.log.index
    .openCalls()
    .filter((call) => call.state === 'unknown')
    .map((call) => {
      const event = deps.log.reads.lastOfCall(call.sessionId, 'tool.outcome_unknown', call.callId);
      return {
        callId: call.callId,
        tool: call.tool,
        args: event?.body.args ?? '',
        reason: event?.body.reason ?? '',
        sessionId: call.sessionId,
        turnId: call.turnId,
        atMs: event?.atMs ?? 0,
      };
    });
}

const settledTexts = {
  done: 'The program ended while this ran. The person has checked: it did happen. Its output is not known.',
  abandon: 'The program ended while this ran. Whether it happened is not known, and the person chose to leave it at that.',
} as const;

function settleOutcome(deps: Deps, params: OpParsed<'outcome.settle'>, caller: Caller): { callId: string; turnId: string | null } {
  const call = deps.log.index.openCalls().find((item) => item.callId === params.callId && item.state === 'unknown');
  if (call === undefined) throw new AppError('not_found', `No call ${params.callId} waits for an answer about its outcome.`);
  const status = call.turnId === null ? null : (deps.log.index.turn(call.turnId)?.status ?? null);
  const isOpen = status === 'waiting' || status === 'running';
  if (params.answer === 'retry' && !isOpen) {
    throw new AppError('turn_not_running', 'The turn this call belonged to has ended, so it cannot be run again.', {
      data: { hint: 'Answer done or abandon, and ask for the work again.' },
    });
  }
  const settled: AnyDraft = {
    type: 'tool.outcome_settled',
    turnId: call.turnId,
    phase: 'act',
    body: { callId: call.callId, answer: params.answer, by: caller.actor },
  };
  const drafts: AnyDraft[] = [settled];
  if (params.answer !== 'retry') drafts.push(settledResult(call, params.answer));
  deps.runtime.appendToTurn(call.sessionId, call.turnId ?? '', drafts);
  if (call.turnId !== null && isOpen) deps.runtime.continueTurn(call.turnId);
  return { callId: call.callId, turnId: call.turnId };
}

function settledResult(call: { callId: string; tool: string; turnId: string | null }, answered: 'done' | 'abandon'): AnyDraft {
  const text = settledTexts[answered];
  return {
    type: 'tool.finished',
    turnId: call.turnId,
    phase: 'observe',
    body: {
      callId: call.callId,
      tool: call.tool,
      outcome: 'unknown',
      forModel: text,
      forUser: text,
      silent: false,
      isAsync: false,
      artifacts: [],
      tookMs: 0,
      resultHash: answered,
    },
  };
}
