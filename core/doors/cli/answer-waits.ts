// Asks the person at the terminal for the approvals and verdicts that a run of several turns waits for. Unanswered ones stay open.

import type { Claw } from '../../contracts/claw.ts';
import { isAppError } from '../../contracts/errors.ts';
import { safeForTerminal } from '../../base/visible-text.ts';
import { promptApproval } from './approval-prompt.ts';
import type { CommandContext } from './command-context.ts';
import { LineReader } from './line-reader.ts';

interface Waiting {
  readonly status: string;
  readonly waitsFor: readonly { readonly approvalId: string | null; readonly text: string }[];
}

export interface Answering<View> {
  /** Continues the run until it ends or waits again. */
  readonly again: () => Promise<View>;
  /** Records a person's verdict on a step without a call. Omitted if the run has no such steps. */
  readonly judge?: (verdict: 'pass' | 'fail', note: string) => Promise<unknown>;
}

const roundsMax = 1000;

/**
 * Returns the view once the run has ended, or waits for an answer that was not given here. Returns the first view unchanged if no person is
 * at the terminal.
 */
export async function answerWaits<View extends Waiting>(
  context: CommandContext,
  claw: Claw,
  first: View,
  { again, judge }: Answering<View>,
): Promise<View> {
  if (!context.hasPerson || context.output.isJson || first.status !== 'waiting') return first;
  const lines = await LineReader.open(context.io);
  try {
    let view = first;
    for (let round = 0; round < roundsMax && view.status === 'waiting'; round++) {
      const [open] = view.waitsFor;
      if (open === undefined) return view;
      const answered =
        open.approvalId === null ? await ask(context, lines, open.text, judge) : await approve(context, claw, lines, open.approvalId);
      if (!answered) return view;
      view = await again();
    }
    return view;
  } finally {
    lines.close();
  }
}

async function approve({ output }: CommandContext, claw: Claw, lines: LineReader, approvalId: string): Promise<boolean> {
  const { approvals } = await claw.op('approval.list', {});
  const asked = approvals.find((one) => one.approvalId === approvalId);
  if (asked === undefined) return true;
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    const answer = await promptApproval(asked, lines, {
      claw,
      paint: output.paintNote,
      say: (text) => output.say(text),
      signal: gone.signal,
    });
    if (answer.kind === 'none') return false;
    const { kind, ...given } = answer;
    await claw.op('approval.decide', { approvalId, decision: kind, ...given });
  } catch (cause) {
    if (!isAppError(cause) || cause.code !== 'approval_not_pending') throw cause;
  } finally {
    stopListening();
  }
  return true;
}

/** Only a clear answer counts. */
async function ask({ output }: CommandContext, lines: LineReader, text: string, judge: Answering<unknown>['judge']): Promise<boolean> {
  if (judge === undefined) return false;
  output.say(`Waits for you: ${safeForTerminal(text)}`);
  const gone = new AbortController();
  const stopListening = lines.onInterrupt(() => gone.abort());
  try {
    const said = (await lines.ask('Is it met? [y]es · [n]o, and what is missing (Enter leaves it open): ', gone.signal))?.trim() ?? '';
    const [, word = '', note = ''] = /^(y|yes|n|no)(?:[\s,:]+(.*))?$/i.exec(said) ?? [];
    if (word === '') return false;
    await judge(word.toLowerCase().startsWith('y') ? 'pass' : 'fail', note);
    return true;
  } finally {
    stopListening();
  }
}
