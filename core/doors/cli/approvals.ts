// `approvals approve` and `approvals deny`: a person's decision, and its outcome.

import { isPlainObject, parseJson } from '../../base/json.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { Approval, GrantScope } from '../../contracts/policy.ts';
import type { ToolRunResult } from '../../contracts/tools.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodeOfTurn, exitCodes } from './exit-code.ts';
import { cliCaller } from './caller.ts';
import { TurnConversation, type ConversationEnd } from './turn-conversation.ts';
import { exitCodeOfCall, resultOfCall, sayPending } from './ask.ts';

interface ApproveGiven {
  readonly id: string;
  readonly scope?: string;
  readonly choice?: string;
  readonly args?: string;
  readonly wait: boolean;
}

export async function approve(context: CommandContext, { id, scope = 'once', choice, args, wait }: ApproveGiven): Promise<number> {
  const given = { scope: parseScope(scope), ...parseChoice(choice), ...parseArgs(args) };
  const decision = { approvalId: id, decision: 'approve', ...given } as const;
  return decide(context, { decision, waits: wait });
}

interface DenyGiven {
  readonly id: string;
  readonly reason?: string;
  readonly wait: boolean;
}

export function deny(context: CommandContext, { id, reason, wait }: DenyGiven): Promise<number> {
  return decide(context, { decision: { approvalId: id, decision: 'deny', ...(reason === undefined ? {} : { reason }) }, waits: wait });
}

function parseChoice(text: string | undefined): { choice?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,2}$/.test(text)) throw new AppError('invalid_params', `"${text}" is no choice. Use a number of the list, such as 0 or 1.`);
  return { choice: Number(text) };
}

function parseArgs(text: string | undefined): { args?: Record<string, unknown> } {
  if (text === undefined) return {};
  const args = parseJson(text);
  if (args.ok && isPlainObject(args.value)) return { args: args.value };
  throw new AppError('invalid_params', `--args takes all arguments as one JSON object, such as '{"command":"ls"}'.`);
}

interface Answer {
  readonly decision: OpParams<'approval.decide'>;
  /** Waits until the continued turn has ended or waits again. */
  readonly waits: boolean;
}

function decide(context: CommandContext, { decision, waits }: Answer): Promise<number> {
  return context.withClaw('live', async ({ claw, instance }) => {
    // If this process hosts the runtime, the turn would end with it, so it must wait.
    if (!waits && instance !== null) {
      const approval = await claw.op('approval.decide', decision, cliCaller);
      context.output.result(approval, () => describeDecided(approval));
      return exitCodes.done;
    }
    let decided: Approval | null = null;
    const end = await new TurnConversation(context, { claw, lines: null, streams: false }).run(async () => {
      decided = await claw.op('approval.decide', decision, cliCaller);
      context.output.note('The turn continues.');
      return { turnId: decided.turnId ?? '' };
    });
    if (decided === null) throw new AppError('internal', 'The answer was not taken.');
    return reportDecided(context, claw, { approval: decided, end });
  });
}

function describeDecided({ state, summary }: Approval): string {
  if (state === 'withdrawn') return 'The changed call is asked about again, because the question did not show what it can do.';
  return `${state === 'approved' ? 'Approved' : 'Denied'}: ${summary}`;
}

/** Shows the outcome of an approved call and returns its exit code. */
async function reportDecided(
  context: CommandContext,
  claw: Claw,
  { approval, end }: { readonly approval: Approval; readonly end: ConversationEnd },
): Promise<number> {
  const { output } = context;
  const { turnId, status, text, error, pending } = end.result;
  const result = approval.state === 'approved' ? await resultOfCall(claw, approval.callId, end) : null;
  output.result({ ...approval, ...(result === null ? {} : { result }), turn: { turnId, status, text } }, () =>
    output.forStdout(linesOnce([describeDecided(approval), result?.forUser.trimEnd() ?? '', text])),
  );
  if (error !== undefined && !output.isJson) output.explain(error);
  sayPending(context, pending ?? []);
  if (end.wasInterrupted) return exitCodes.interrupted;
  if (approval.state === 'denied') return status === 'waiting' ? exitCodes.waiting : exitCodes.done;
  return isDirect(result, end.result) ? exitCodeOfCall({ claw }, result.outcome) : exitCodeOfTurn(end.result);
}

/** True if the turn is a single call that a person made. */
function isDirect(result: ToolRunResult | null, { status, text }: ConversationEnd['result']): result is ToolRunResult {
  return result !== null && status === 'done' && (text === '' || text === result.forUser);
}

function linesOnce(lines: readonly string[]): string {
  return [...new Set(lines)].filter((line) => line !== '').join('\n');
}

/** Fails with `invalid_params`. */
function parseScope(text: string): GrantScope {
  if (text === 'once' || text === 'session' || text === 'always') return { kind: text };
  const minutes = /^minutes:(\d{1,4})$/.exec(text)?.[1];
  if (minutes === undefined) throw new AppError('invalid_params', `"${text}" is no scope. Use once, minutes:N, session or always.`);
  return { kind: 'minutes', minutes: Number(minutes) };
}
