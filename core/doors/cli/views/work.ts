// Views of work with criteria.

import { counted } from '../../../base/counted.ts';
import type { WorkView } from '../../../contracts/features/work.ts';
import type { Claw } from '../../../contracts/claw.ts';
import type { Caller } from '../../../contracts/ops.ts';
import { answerWaits } from '../answer-waits.ts';
import { cliCaller } from '../caller.ts';
import type { CommandContext } from '../command-context.ts';
import { exitCodeOfFailure, exitCodes } from '../exit-code.ts';
import { meetModel } from '../first-contact.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { money } from '../table.ts';

export const workViews: ViewsOf<'work'> = {
  'work.run': {
    perform: (context, params) =>
      stayWith(context, async (claw, caller) => {
        await meetModel(context, claw, null);
        return claw.op('work.run', params, caller);
      }),
  },
  'work.wait': { perform: (context, params) => stayWith(context, (claw, caller) => claw.op('work.wait', params, caller)) },
  'work.decide': { show: describeWork },
  'work.cancel': { show: describeWork },
  'work.get': { show: describeWork },
};

/** Lets a person at the terminal answer approvals and verdicts in place. */
function stayWith(context: CommandContext, start: (claw: Claw, caller: Caller) => Promise<WorkView>): Promise<number> {
  return context.withClaw('live', ({ claw }) =>
    context.untilInterrupt(async (signal) => {
      const caller = { ...cliCaller, signal };
      const first = await start(claw, caller);
      const { taskId } = first;
      const view = await answerWaits(context, claw, first, {
        again: () => claw.op('work.wait', { taskId }, caller),
        // A choice between candidates is made with `work choose`.
        ...(first.strategy === 'candidates'
          ? {}
          : { judge: (verdict, note) => claw.op('work.decide', { taskId, verdict, ...(note === '' ? {} : { note }) }, caller) }),
      });
      context.output.result(view, () => describeWork(view, context));
      return exitCodeOfWork(view);
    }),
  );
}

const verdicts = { pass: 'PASS', fail: 'FAIL', error: 'ERROR', waiting: 'waits', unchecked: '-' } as const;

function describeWork(work: WorkView, { program }: { readonly program: string }): string {
  const { taskId, status, criteria, candidates, chosen, reason, waitsFor, text } = work;
  const head = status === 'pass' || status === 'fail' ? `${status.toUpperCase()}: ${reason}` : `The task is ${status}.`;
  const cost = work.costUsd === null ? '' : `, ${money(work.costUsd)}`;
  return [
    ...(text === '' ? [] : [text, '']),
    `${head} (${taskId}, attempt ${work.attempts}, ${counted(work.tokens, 'token')}${cost})`,
    tabled(
      criteria,
      { '': ({ verdict }) => verdicts[verdict], CRITERION: 'text', EVIDENCE: ({ evidence }) => shorten(evidence) },
      'It has no criteria.',
    ),
    ...candidates.map((one) =>
      `Candidate ${one.candidate}: ${one.status}${one.candidate === chosen ? ' *' : ''} ${one.sessionId ?? ''}`.trimEnd(),
    ),
    ...waitsFor.map((one) => waitLine(program, taskId, one)),
    ...(waitsFor.length === 0 ? [] : [`Then: ${program} work continue ${taskId}`]),
  ].join('\n');
}

function waitLine(program: string, taskId: string, { approvalId, text }: WorkView['waitsFor'][number]): string {
  if (approvalId !== null) return `Waits for approval: ${text}\n  ${program} approvals approve ${approvalId} --scope once`;
  return `Waits for you: ${text}\n  ${program} work accept ${taskId}, or work reject, or work choose`;
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}

function exitCodeOfWork({ status, error }: Pick<WorkView, 'status' | 'error'>): number {
  if (status === 'pass') return exitCodes.done;
  return status === 'fail' ? exitCodeOfFailure(error) : exitCodes.waiting;
}
