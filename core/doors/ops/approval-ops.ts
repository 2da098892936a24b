// The operations on approvals, grants, unknown outcomes and the panic stop: decisions that only a person makes.

import { AppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import type { Approval, Grant, GrantScope } from '../../contracts/policy.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { Caller, OpHandlers, OpParsed } from '../../contracts/ops.ts';
import type { OpsParts } from './parts.ts';
import { previewGrant } from './grant-preview.ts';

type Deps = Pick<OpsParts, 'clock' | 'facts' | 'gate' | 'log' | 'panic' | 'policy' | 'turns' | 'safety' | 'tools' | 'workspaces'>;

export function createApprovalOps(deps: Deps) {
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
  } satisfies Partial<OpHandlers>;
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
  if (params.args !== undefined) {
    answerEdited(deps, approval, { ...params, args: JSON.stringify(params.args) }, caller);
    return deps.policy.approval(params.approvalId) ?? approval;
  }
  if (params.decision === 'deny') {
    answer(deps, approval, { decision: 'deny', scope: null, by: caller.actor, grant: null, ...reasonOf(params) });
    return deps.policy.approval(params.approvalId) ?? approval;
  }
  mayApprove(deps, params);
  const scope: GrantScope = params.scope ?? { kind: 'once' };
  const grant = deps.gate.grantFor(approval, scope, hashOf(deps, approval), params.choice);
  answer(deps, approval, { decision: 'approve', scope: grant.scope, by: caller.actor, grant, rebound: deps.gate.rebind(approval) });
  if (grant.scope.kind !== 'once') approveCovered(deps, grant);
  return deps.policy.approval(params.approvalId) ?? approval;
}

/** Fails with `invalid_params` or `panic_engaged`. */
function mayApprove(deps: Deps, { reason }: Pick<OpParsed<'approval.decide'>, 'reason'>): void {
  if (reason !== undefined) throw new AppError('invalid_params', 'A reason can only be given when denying.');
  if (deps.panic.engaged) throw new AppError('panic_engaged', 'Nothing can be approved while everything is stopped.');
}

/**
 * Answers an approval with changed arguments. The log keeps both: the original arguments in the request and the changed ones in the
 * decision.
 */
function answerEdited(
  deps: Deps,
  approval: Approval,
  params: Omit<OpParsed<'approval.decide'>, 'args'> & { readonly args: string },
  caller: Caller,
): void {
  if (params.decision === 'deny') throw new AppError('invalid_params', 'Changed arguments can only be given when approving.');
  mayApprove(deps, params);
  if (params.scope !== undefined && params.scope.kind !== 'once')
    throw new AppError('invalid_params', 'A call that you changed can be approved for this one call only.');
  const { facts, argsHash, argsJson } = judgeEdited(deps, approval, params.args);
  const grant = deps.gate.grantForEdited(approval, { facts, argsHash });
  const decision = grant === null ? 'withdraw' : 'approve';
  answer(deps, approval, { decision, scope: grant?.scope ?? null, by: caller.actor, grant, edited: { args: argsJson } });
}

/** Fails with `invalid_arguments`, or with `invalid_params` for a call that cannot be changed. */
function judgeEdited(deps: Deps, approval: Approval, args: string): { facts: CallFacts; argsHash: string; argsJson: string } {
  const parsed = deps.tools.parse(approval.tool, args);
  if (!parsed.ok) throw parsed.error;
  const { tool, argsHash, argsJson } = parsed.value;
  if (tool.isInternal === true) throw new AppError('invalid_params', 'This call cannot be changed. Approve it, or deny it.');
  const secrets = deps.safety.redact(textsOf(args)).found;
  if (secrets.length > 0) {
    const data = { hint: 'Refer to a file or an environment variable that holds it. Nothing was decided; the question still waits.' };
    throw new AppError('invalid_params', `The changed call holds a secret (${secrets.join(', ')}).`, { data });
  }
  const workspace = approval.facts.workspace ?? null;
  const place = { sessionId: approval.sessionId, ...(approval.turnId === undefined ? {} : { turnId: approval.turnId }) };
  const seen = tool.facts(parsed.value.args, { ...deps.workspaces.contextOf(workspace), ...place });
  return { argsHash, argsJson, facts: workspace === null ? seen : { ...seen, workspace } };
}

/** All strings of the JSON, unescaped. */
function textsOf(json: string): string {
  const texts: string[] = [];
  JSON.parse(json, (_key, value: unknown) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  return texts.join('\n');
}

function reasonOf({ reason }: OpParsed<'approval.decide'>): { readonly reason?: string } {
  return reason === undefined ? {} : { reason };
}

interface Answer {
  readonly decision: 'approve' | 'deny' | 'withdraw';
  readonly scope: GrantScope | null;
  readonly by: string;
  /** The reason for the agent, if the call was denied. */
  readonly reason?: string;
  /** The arguments as the person changed them. */
  readonly edited?: { readonly args: string };
  /** The grant that this decision creates. */
  readonly grant: Grant | null;
  /** The id of the existing grant that covers the call. */
  readonly coveredBy?: string;
  /** A command of config.yaml that is now bound to its current form. */
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
      ...(given.edited === undefined ? {} : { edited: given.edited }),
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
  deps.turns.appendToTurn(approval.sessionId, approval.turnId ?? '', [decided], createGrant);
  if (approval.turnId !== undefined) deps.turns.continueTurn(approval.turnId);
}

/** Approves the other pending approvals that the new grant covers, so that no call is asked about twice. */
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
        reported: call.finishedSeq !== null,
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
  const isReported = call.finishedSeq !== null;
  const isOpen = !isReported && (status === 'waiting' || status === 'running');
  if (params.answer === 'retry' && !isOpen) {
    const why = isReported ? 'The agent was told that the outcome is unknown' : 'The turn this call belonged to has ended';
    throw new AppError('turn_not_running', `${why}, so it cannot be run again.`, {
      hint: 'Answer done or abandon, and ask for the work again.',
    });
  }
  const settled: AnyDraft = {
    type: 'tool.outcome_settled',
    turnId: call.turnId,
    phase: 'act',
    body: { callId: call.callId, answer: params.answer, by: caller.actor },
  };
  const drafts: AnyDraft[] = [settled];
  if (params.answer !== 'retry' && !isReported) drafts.push(settledResult(call, params.answer));
  deps.turns.appendToTurn(call.sessionId, call.turnId ?? '', drafts);
  if (call.turnId !== null && isOpen) deps.turns.continueTurn(call.turnId);
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
