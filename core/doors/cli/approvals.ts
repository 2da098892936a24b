// `approvals`, `grants` and `outcomes`: what a person decides, and what they decided before.

import type { Command } from 'commander';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { grantMatchSchema, type Approval, type GrantListing, type GrantScope } from '../../contracts/policy.ts';
import { describeApproval } from './approval-prompt.ts';
import { parseCount, parseJsonArgument, type CommandContext, type Run } from './command-context.ts';
import { exitCodeOfTurn, exitCodes } from './exit-code.ts';
import { table, when } from './table.ts';
import { cliCaller } from './turn-conversation.ts';
import { sayPending } from './ask.ts';

export function registerApprovals(program: Command, run: Run): void {
  const approvals = program.command('approvals').description('what waits for your approval');
  approvals
    .command('list')
    .option('--all', 'also what was decided')
    .action((options: { all?: boolean }) =>
      run((context) =>
        context.runOp('approval.list', options.all === true ? { all: true } : {}, {
          json: (result) => result.approvals,
          human: (result, paint) =>
            result.approvals.map((one) => showApproval(one, (text) => paint('bold', text))).join('\n') || 'Nothing waits for approval.',
        }),
      ),
    );
  approvals
    .command('approve')
    .argument('<id>')
    .option('--scope <scope>', 'once, minutes:N, session or always', 'once')
    .option('--choice <n>', 'which of the wider scopes, as the list numbers them; 0 is the narrowest')
    .action((id: string, options: { scope: string; choice?: string }) =>
      run((context) => approve(context, id, { scope: parseScope(options.scope), ...parseChoice(options.choice) })),
    );
  approvals
    .command('deny')
    .argument('<id>')
    .action((id: string) => run((context) => decide(context, { approvalId: id, decision: 'deny' })));
}

function showApproval(approval: Approval, bold: (text: string) => string): string {
  return `${bold(approval.approvalId)}  ${approval.state}  ${when(approval.createdAtMs)}${describeApproval(approval, (_, text) => text)}\n`;
}

function approve(context: CommandContext, approvalId: string, given: { scope: GrantScope; choice?: number }): Promise<number> {
  return decide(context, { approvalId, decision: 'approve', ...given });
}

function parseChoice(text: string | undefined): { choice?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,2}$/.test(text)) throw new AppError('invalid_params', `"${text}" is no choice. Use a number of the list, such as 0 or 1.`);
  return { choice: Number(text) };
}

/** Where this process hosts the runtime, it stays until the turn that goes on has ended or waits again. */
function decide(context: CommandContext, decision: OpParams<'approval.decide'>): Promise<number> {
  return context.withClaw('live', async ({ claw, instance }) => {
    const approval = await claw.op('approval.decide', decision, cliCaller);
    const said = `${approval.state === 'approved' ? 'Approved' : 'Denied'}: ${approval.summary}`;
    if (instance !== null || approval.turnId === undefined) {
      context.output.result(approval, () => said);
      return exitCodes.done;
    }
    context.output.note('The turn goes on.');
    const gone = new AbortController();
    const stopListening = context.io.onInterrupt(() => gone.abort());
    try {
      const waited = await claw.op('turn.wait', { turnId: approval.turnId }, { ...cliCaller, signal: gone.signal });
      if (gone.signal.aborted && waited.status === 'running') await claw.op('turn.cancel', { turnId: approval.turnId }, cliCaller);
      const turn = gone.signal.aborted ? await claw.op('turn.wait', { turnId: approval.turnId, timeoutMs: 0 }, cliCaller) : waited;
      const { turnId, status, text } = turn;
      context.output.result({ ...approval, turn: { turnId, status, text } }, () =>
        context.output.forStdout(text === '' ? said : `${said}\n${text}`),
      );
      if (turn.error !== undefined && !context.output.isJson) context.output.explain(turn.error);
      sayPending(context, turn.pending ?? []);
      if (gone.signal.aborted) return exitCodes.interrupted;
      return decision.decision === 'deny' && status !== 'waiting' ? exitCodes.done : exitCodeOfTurn(turn);
    } finally {
      stopListening();
    }
  });
}

/** Fails with `invalid_params`. */
export function parseScope(text: string): GrantScope {
  if (text === 'once' || text === 'session' || text === 'always') return { kind: text };
  const minutes = /^minutes:(\d{1,4})$/.exec(text)?.[1];
  if (minutes === undefined) throw new AppError('invalid_params', `"${text}" is no scope. Use once, minutes:N, session or always.`);
  return { kind: 'minutes', minutes: Number(minutes) };
}

export function registerGrants(program: Command, run: Run): void {
  const grants = program.command('grants').description('approvals that reach beyond one call');
  grants
    .command('list')
    .option('--all', 'also those that are spent, revoked or over')
    .action((options: { all?: boolean }) =>
      run((context) =>
        context.runOp('grant.list', options.all === true ? { all: true } : {}, {
          json: (result) => result.grants,
          human: (result) => table(['GRANT', 'SCOPE', 'ENDS', 'USED', 'LAST', 'COVERS'], result.grants.map(grantRow), 'No grants.'),
        }),
      ),
    );
  grants
    .command('revoke')
    .argument('<id>')
    .action((grantId: string) =>
      run((context) => context.runOp('grant.revoke', { grantId }, { human: (grant) => `Revoked: ${grant.covers}` })),
    );
  grants
    .command('preview')
    .description('past calls a grant would have covered')
    .argument('<match>', 'what it would match, as JSON')
    .option('--days <n>', 'how far to look back')
    .action((match: string, options: { days?: string }) => run((context) => previewGrant(context, match, options.days)));
}

function grantRow(grant: GrantListing): string[] {
  const scope = grant.scope.kind === 'minutes' ? `minutes:${grant.scope.minutes}` : grant.scope.kind;
  const used = grant.uses === 0 ? 'never' : grant.uses === 1 ? 'once' : `${grant.uses} times`;
  return [grant.grantId, scope, endOf(grant), used, when(grant.lastUsedAtMs), grant.covers];
}

function endOf(grant: GrantListing): string {
  if (grant.revokedAtMs !== null) return `revoked ${when(grant.revokedAtMs)}`;
  if (grant.spentAtMs !== null) return `used up ${when(grant.spentAtMs)}`;
  if (grant.expiresAtMs !== null) return when(grant.expiresAtMs);
  if (grant.scope.kind === 'once') return 'with its call';
  return grant.scope.kind === 'session' ? `with ${grant.sessionId}` : 'when revoked';
}

function previewGrant(context: CommandContext, match: string, days: string | undefined): Promise<number> {
  const given = parseJsonArgument(match, 'The match');
  const parsed = grantMatchSchema.safeParse(given);
  if (!parsed.success) {
    const issues = describeIssues(parsed.error.issues, { given, whole: 'the match' });
    throw new AppError('invalid_params', `The match does not fit: ${issues.join('; ')}.`);
  }
  const params = { match: parsed.data, ...(days === undefined ? {} : { days: parseCount(days, '--days') }) };
  return context.runOp('grant.preview', params, {
    human: ({ covered, asked, total, lookedBackToMs }) =>
      `${total} past calls would have been covered; ${asked} of them asked.${lookedBackToMs === null ? '' : ` Looked back to ${when(lookedBackToMs)}.`}\n` +
      table(
        ['CALL', 'TOOL', 'WHEN', 'WHAT'],
        covered.map((one) => [one.callId, one.tool, when(one.atMs), one.summary]),
        '',
      ),
  });
}

export function registerOutcomes(program: Command, run: Run): void {
  const outcomes = program.command('outcomes').description('calls whose outcome only you can tell');
  outcomes.command('list').action(() =>
    run((context) =>
      context.runOp(
        'outcome.list',
        {},
        {
          json: (result) => result.outcomes,
          human: (result) =>
            table(
              ['CALL', 'TOOL', 'WHEN', 'WHY', 'ARGUMENTS'],
              result.outcomes.map((one) => [one.callId, one.tool, when(one.atMs), one.reason, one.args]),
              'None.',
            ),
        },
      ),
    ),
  );
  outcomes
    .command('settle')
    .argument('<call-id>')
    .argument('<answer>', 'done: it happened · retry: run it again · abandon: leave it')
    .action((callId: string, answer: string) => run((context) => settle(context, callId, answer)));
}

function settle(context: CommandContext, callId: string, answer: string): Promise<number> {
  if (answer !== 'done' && answer !== 'retry' && answer !== 'abandon')
    throw new AppError('invalid_params', 'The answer is done, retry or abandon.');
  return context.withClaw('live', async ({ claw }) => {
    const result = await claw.op('outcome.settle', { callId, answer }, cliCaller);
    context.output.result(result, () => `Settled: ${callId} (${answer})`);
    return exitCodes.done;
  });
}
