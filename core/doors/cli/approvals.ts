// `approvals approve` and `approvals deny`: a person's decision, and its outcome.

import { objectIn } from '../../base/json.ts';
import type { Claw } from '../../contracts/claw.ts';
import { AppError } from '../../contracts/errors.ts';
import type { OpParams } from '../../contracts/ops.ts';
import type { Approval, GrantScope } from '../../contracts/policy.ts';
import type { ToolRunResult } from '../../contracts/tools.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodeOfTurn, exitCodes } from './exit-code.ts';
import { TurnConversation, type ConversationEnd } from './turn-conversation.ts';
import { exitCodeOfCall, resultOfCall, sayPending } from './ask.ts';

interface ApproveGiven {
  readonly id: readonly string[];
  readonly scope?: string;
  readonly choice?: string;
  readonly args?: string;
  readonly wait: boolean;
}

export async function approve(context: CommandContext, { id, scope = 'once', choice, args, wait }: ApproveGiven): Promise<number> {
  const given = { scope: parseScope(scope), ...parseChoice(choice), ...parseArgs(args) };
  if (id.length > 1 && (choice ?? args) !== undefined)
    throw new AppError('invalid_params', '--choice and --args are for one call at a time.');
  return decide(context, { decisions: id.map((approvalId) => ({ approvalId, decision: 'approve', ...given })), waits: wait });
}

interface DenyGiven {
  readonly id: readonly string[];
  readonly reason?: string;
  readonly wait: boolean;
}

export function deny(context: CommandContext, { id, reason, wait }: DenyGiven): Promise<number> {
  const given = reason === undefined ? {} : { reason };
  return decide(context, { decisions: id.map((approvalId) => ({ approvalId, decision: 'deny', ...given })), waits: wait });
}

function parseChoice(text: string | undefined): { choice?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,2}$/.test(text)) throw new AppError('invalid_params', `"${text}" is not a choice. Use a number of the list, such as 0 or 1.`);
  return { choice: Number(text) };
}

function parseArgs(text: string | undefined): { args?: Record<string, unknown> } {
  if (text === undefined) return {};
  const args = objectIn(text);
  if (args !== null) return { args };
  throw new AppError('invalid_params', `--args takes all arguments as one JSON object, such as '{"command":"ls"}'.`);
}

interface Answer {
  readonly decisions: readonly OpParams<'approval.decide'>[];
  /** Waits until the turn that the last decision continues has ended or waits again. */
  readonly waits: boolean;
}

function decide(context: CommandContext, { decisions, waits }: Answer): Promise<number> {
  return context.withClaw('live', async ({ claw, instance }) => {
    const decided: Approval[] = [];
    const take = async (some: Answer['decisions']): Promise<void> => {
      for (const decision of some) {
        const approval = await claw.op('approval.decide', decision);
        decided.push(approval);
        const isNarrowed = approval.scope?.kind === 'once' && decision.scope !== undefined && decision.scope.kind !== 'once';
        if (isNarrowed) context.output.note('No grant covers such a call, so only this one is approved.');
      }
    };
    // If this process hosts the runtime, the turn would end with it, so it must wait.
    if (!waits && instance !== null) {
      await take(decisions);
      context.output.result(oneOrAll(decided), () => linesOnce(decided.map(describeDecided)));
      return exitCodes.done;
    }
    await take(decisions.slice(0, -1));
    const end = await new TurnConversation(context, { claw, lines: null, streams: false }).run(async () => {
      await take(decisions.slice(-1));
      context.output.note('The turn continues.');
      return { turnId: decided.at(-1)?.turnId ?? '' };
    });
    return reportDecided(context, claw, { decided, end });
  });
}

function oneOrAll<T>(all: readonly T[]): T | readonly T[] | undefined {
  return all.length === 1 ? all[0] : all;
}

function describeDecided({ state, summary }: Approval): string {
  if (state === 'withdrawn') return 'The changed call is asked about again, because the question did not show what it can do.';
  return `${state === 'approved' ? 'Approved' : 'Denied'}: ${summary}`;
}

/** Shows the outcome of the last call and returns its exit code. */
async function reportDecided(
  context: CommandContext,
  claw: Claw,
  { decided, end }: { readonly decided: readonly Approval[]; readonly end: ConversationEnd },
): Promise<number> {
  const { output } = context;
  const approval = decided.at(-1);
  if (approval === undefined) throw new AppError('internal', 'The answer was not taken.');
  const { turnId, status, text, error, pending } = end.result;
  const result = approval.state === 'approved' ? await resultOfCall(claw, approval.callId, end) : null;
  const last = { ...approval, ...(result === null ? {} : { result }), turn: { turnId, status, text } };
  output.result(oneOrAll([...decided.slice(0, -1), last]), () =>
    output.forStdout(linesOnce([...decided.map(describeDecided), result?.forUser.trimEnd() ?? '', text])),
  );
  if (error !== undefined && !output.isJson) output.explain(error);
  sayPending(context, pending ?? []);
  if (end.stopCode !== null) return end.stopCode;
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
  const minutes = /^minutes:([1-9]\d{0,3})$/.exec(text)?.[1];
  if (minutes === undefined) throw new AppError('invalid_params', `"${text}" is not a scope. Use once, minutes:N, session or always.`);
  return { kind: 'minutes', minutes: Number(minutes) };
}
