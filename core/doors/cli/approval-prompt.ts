// Asks a person at the terminal for one approval: shows its effect, the risk, the exact arguments and the change to files. Silence and Enter
// never approve.

import type { Claw } from '../../contracts/claw.ts';
import { toAppError } from '../../contracts/errors.ts';
import { approvalText } from '../../contracts/approval-text.ts';
import type { Approval, GrantScope } from '../../contracts/policy.ts';
import { describeChanges } from './file-diff.ts';
import type { LineReader } from './line-reader.ts';
import type { Paint } from './output.ts';
import { revealed } from '../../base/visible-text.ts';

export type PromptAnswer =
  | { readonly kind: 'approve'; readonly scope: GrantScope; readonly choice?: number }
  | { readonly kind: 'deny' }
  /** No answer. The approval stays pending. */
  | { readonly kind: 'none' };

const triesMax = 5;
const CHANGED_LINES_MAX = 120;

const onceAnswers: Readonly<Record<string, PromptAnswer>> = {
  o: { kind: 'approve', scope: { kind: 'once' } },
  once: { kind: 'approve', scope: { kind: 'once' } },
  '': { kind: 'deny' },
  d: { kind: 'deny' },
  deny: { kind: 'deny' },
  n: { kind: 'deny' },
  no: { kind: 'deny' },
};

/** Trust in a folder is given once and remembered, so there are no wider scopes. */
const trustAnswers: Readonly<Record<string, PromptAnswer>> = {
  y: { kind: 'approve', scope: { kind: 'once' } },
  yes: { kind: 'approve', scope: { kind: 'once' } },
};

const widerAnswers: Readonly<Record<string, PromptAnswer>> = {
  '15': { kind: 'approve', scope: { kind: 'minutes', minutes: 15 } },
  s: { kind: 'approve', scope: { kind: 'session' } },
  session: { kind: 'approve', scope: { kind: 'session' } },
  a: { kind: 'approve', scope: { kind: 'always' } },
  always: { kind: 'approve', scope: { kind: 'always' } },
};

export interface PromptOptions {
  readonly claw: Pick<Claw, 'op'>;
  readonly paint: Paint;
  say(text: string): void;
  /** Aborts when the approval was decided elsewhere, or the prompt was interrupted. */
  readonly signal: AbortSignal;
}

export async function promptApproval(approval: Approval, lines: LineReader, options: PromptOptions): Promise<PromptAnswer> {
  options.say(describeApproval(approval, options.paint) + (await changesOf(approval, options)));
  const trusts = approval.facts.opens !== undefined;
  const wider = trusts ? trustAnswers : approval.widerScope === null ? {} : widerAnswers;
  const choices = trusts
    ? '[y]es · [d]eny'
    : approval.widerScope === null
      ? '[o]nce · [d]eny'
      : '[o]nce · [15] minutes · [s]ession · [a]lways · [d]eny';
  lines.forgetTypedAhead();
  for (let tries = 0; tries < triesMax; tries++) {
    const line = await lines.ask(`Approve? ${choices} (Enter denies): `, options.signal);
    if (line === null || options.signal.aborted) return { kind: 'none' };
    const typed = line.trim().toLowerCase();
    const answer = readAnswer(typed, { ...onceAnswers, ...wider }, approval.choices?.length ?? 1);
    if (answer !== null) return answer;
    options.say(tries === triesMax - 1 ? 'That is none of the choices either, so the call is denied.' : 'That is none of the choices.');
  }
  return { kind: 'deny' };
}

/** The change that the call would make to files. The approval itself has its exact arguments, so it can be answered without. */
async function changesOf({ approvalId }: Approval, { claw, paint }: PromptOptions): Promise<string> {
  try {
    const { files } = await claw.op('approval.diff', { approvalId });
    return files.length === 0 ? '' : `\n${describeChanges(files, CHANGED_LINES_MAX, paint)}`;
  } catch (cause) {
    return `\nThe change to files cannot be shown: ${revealed(toAppError(cause).message)}`;
  }
}

/** Parses an answer. A wider scope may be followed by the number of its choice: `s 1`. */
function readAnswer(typed: string, answers: Readonly<Record<string, PromptAnswer>>, choices: number): PromptAnswer | null {
  const [, word = '', number] = /^(.*?)(?:\s+(\d))?$/s.exec(typed) ?? [];
  const answer = Object.hasOwn(answers, word) ? answers[word] : undefined;
  if (answer === undefined) return null;
  if (number === undefined) return answer;
  if (answer.kind !== 'approve' || answer.scope.kind === 'once' || Number(number) >= choices) return null;
  return { ...answer, choice: Number(number) };
}

/** Describes everything that is approved, complete and without invisible characters. */
export function describeApproval(approval: Approval, paint: Paint): string {
  const { headline, about, touches, exact } = approvalText(approval);
  const { does, command } = approval.facts;
  const lines = [
    '',
    paint(does === undefined ? 'yellow' : 'red', paint('bold', headline)),
    ...about,
    ...(command === null ? [] : [`Command: ${exact}`]),
    ...touches,
    `Exact arguments of ${revealed(approval.tool)}: ${revealed(approval.args)}`,
    ...describeWider(approval),
  ];
  return lines.join('\n');
}

function describeWider({ widerScope, choices = [] }: Approval): string[] {
  if (widerScope === null) return [];
  if (choices.length < 2) return [`A wider approval would cover: ${revealed(widerScope)}`];
  return ['What a wider approval would cover, by number (default 0):', ...choices.map(({ covers }, at) => `  ${at}  ${revealed(covers)}`)];
}
