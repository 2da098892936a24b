// `approvals`, `grants` and `outcomes`: what a person decides, and what they decided before.

import type { Command } from 'commander';
import type { Claw } from '../../contracts/claw.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EventOf } from '../../contracts/events.ts';
import type { OpParams } from '../../contracts/ops.ts';
import { grantMatchSchema, type Approval, type GrantListing, type GrantScope } from '../../contracts/policy.ts';
import type { ToolRunResult } from '../../contracts/tools.ts';
import { describeApproval } from './approval-prompt.ts';
import { parseCount, parseJsonArgument, type CommandContext, type Run } from './command-context.ts';
import { exitCodeOfTurn, exitCodes } from './exit-code.ts';
import { table, when } from './table.ts';
import { cliCaller } from './caller.ts';
import { TurnConversation, type ConversationEnd } from './turn-conversation.ts';
import { exitCodeOfCall, sayPending } from './ask.ts';

export function registerApprovals(program: Command, run: Run): void {
  const approvals = program.command('approvals').description('calls that wait for your approval');
  approvals
    .command('list')
    .description('list the calls that wait for your answer')
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
    .description('approve a call and show its result')
    .argument('<id>')
    .option('--scope <scope>', 'once, minutes:N, session or always', 'once')
    .option('--choice <n>', 'which of the wider scopes, as the list numbers them; 0 is the narrowest')
    .option('--no-wait', 'with a running instance: return at once')
    .action((id: string, options: { scope: string; choice?: string; wait: boolean }) =>
      run((context) => approve(context, id, { scope: parseScope(options.scope), ...parseChoice(options.choice) }, options.wait)),
    );
  approvals
    .command('deny')
    .description('refuse a call')
    .argument('<id>')
    .option('--no-wait', 'with a running instance: return at once')
    .action((id: string, { wait }: { wait: boolean }) =>
      run((context) => decide(context, { decision: { approvalId: id, decision: 'deny' }, waits: wait })),
    );
}

function showApproval(approval: Approval, bold: (text: string) => string): string {
  return `${bold(approval.approvalId)}  ${approval.state}  ${when(approval.createdAtMs)}${describeApproval(approval, (_, text) => text)}\n`;
}

function approve(
  context: CommandContext,
  approvalId: string,
  given: { scope: GrantScope; choice?: number },
  waits: boolean,
): Promise<number> {
  return decide(context, { decision: { approvalId, decision: 'approve', ...given }, waits });
}

function parseChoice(text: string | undefined): { choice?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,2}$/.test(text)) throw new AppError('invalid_params', `"${text}" is no choice. Use a number of the list, such as 0 or 1.`);
  return { choice: Number(text) };
}

interface Answer {
  readonly decision: OpParams<'approval.decide'>;
  /** Stays until the turn that goes on has ended or waits again. */
  readonly waits: boolean;
}

function decide(context: CommandContext, { decision, waits }: Answer): Promise<number> {
  return context.withClaw('live', async ({ claw, instance }) => {
    // Where this process hosts the runtime, the turn ends with it.
    if (!waits && instance !== null) {
      const approval = await claw.op('approval.decide', decision, cliCaller);
      context.output.result(approval, () => describeDecided(approval));
      return exitCodes.done;
    }
    let decided: Approval | null = null;
    const end = await new TurnConversation(context, { claw, lines: null, streams: false }).run(async () => {
      decided = await claw.op('approval.decide', decision, cliCaller);
      context.output.note('The turn goes on.');
      return { turnId: decided.turnId ?? '' };
    });
    if (decided === null) throw new AppError('internal', 'The answer was not taken.');
    return reportDecided(context, claw, { approval: decided, end });
  });
}

function describeDecided({ state, summary }: Approval): string {
  return `${state === 'approved' ? 'Approved' : 'Denied'}: ${summary}`;
}

/** What was approved shows what came of it, and its outcome is the exit code. */
async function reportDecided(
  context: CommandContext,
  claw: Claw,
  { approval, end }: { readonly approval: Approval; readonly end: ConversationEnd },
): Promise<number> {
  const { output } = context;
  const { turnId, status, text, error, pending } = end.result;
  const call = end.calls.findLast((event) => event.body.callId === approval.callId)?.body ?? null;
  const result = call === null || approval.state !== 'approved' ? null : resultOf(call);
  output.result({ ...approval, ...(result === null ? {} : { result }), turn: { turnId, status, text } }, () =>
    output.forStdout(linesOnce([describeDecided(approval), result?.forUser.trimEnd() ?? '', text])),
  );
  if (error !== undefined && !output.isJson) output.explain(error);
  sayPending(context, pending ?? []);
  if (end.wasInterrupted) return exitCodes.interrupted;
  if (approval.state === 'denied') return status === 'waiting' ? exitCodes.waiting : exitCodes.done;
  return isDirect(result, end.result) ? exitCodeOfCall({ claw }, result.outcome) : exitCodeOfTurn(end.result);
}

/** A call that a person made themselves is all there is to its turn. */
function isDirect(result: ToolRunResult | null, { status, text }: ConversationEnd['result']): result is ToolRunResult {
  return result !== null && status === 'done' && (text === '' || text === result.forUser);
}

function linesOnce(lines: readonly string[]): string {
  return [...new Set(lines)].filter((line) => line !== '').join('\n');
}

function resultOf({ callId, outcome, forUser, forModel, artifacts }: EventOf<'tool.finished'>['body']): ToolRunResult {
  return { callId, outcome, forUser, forModel, artifacts };
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
    .description('list the grants that hold')
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
    .description('take a grant back')
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
  const outcomes = program.command('outcomes').description('calls with an unknown outcome');
  outcomes
    .command('list')
    .description('list the calls that were cut off by a crash')
    .action(() =>
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
    .description('record the outcome of such a call')
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
