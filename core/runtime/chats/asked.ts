// Presents approvals of calls and questions of MCP servers to a chat in one form: the text, the buttons and how it was answered. Decides
// nothing.

import { revealed } from '../../base/visible-text.ts';
import { approvalText } from '../../contracts/approval-text.ts';
import type { FileDiff } from '../../contracts/checkpoints.ts';
import type { EndedQuestion, McpQuestion } from '../../contracts/features/mcp.ts';
import type { Approval } from '../../contracts/policy.ts';
import { fieldsOf, quickAnswers, type QuestionField } from '../../contracts/question-fields.ts';
import { answeredWords, endedQuestionWords } from '../../contracts/turn-words.ts';

export interface Choice {
  readonly key: string;
  readonly label: string;
}

export interface Asked {
  readonly askId: string;
  readonly sessionId: string;
  readonly summary: string;
  readonly text: string;
  /** The full text if it is too long for a chat, else null. */
  readonly rest: string | null;
  /** The buttons, in rows. */
  readonly choices: readonly (readonly Choice[])[];
  /** The fields that a written answer can fill; null if a button or a yes or no is all that is needed. */
  readonly wants: readonly string[] | null;
  readonly isOpen: boolean;
  readonly by: string | null;
  /** Describes how it was answered. A caller whose name starts with `here` answered over the same channel. */
  howAnswered(here: string): string;
}

export const MINUTES = 15;
export const declineKey = 'n';
const SHOWN_MAX = 1_600;
/** The maximum length of a sentence, so that an approval fits into one message. */
const PLAIN_MAX = 250;
const TOUCHES_MAX = 3;
/** The maximum length of a question with its change, so that one message of every service holds it with its buttons. */
const WITH_CHANGE_MAX = 1_700;
const FIELDS_SHOWN_MAX = 10;
const LABEL_MAX = 60;

export function askedApproval(approval: Approval): Asked {
  const { approvalId, sessionId, summary, widerScope, decidedBy, state } = approval;
  return {
    askId: approvalId,
    sessionId,
    summary,
    ...questionText(approval),
    choices: [
      [
        { key: 'y', label: 'Approve once' },
        { key: declineKey, label: 'Deny' },
      ],
      ...(widerScope === null ? [] : [[{ key: 'm', label: `Approve for ${MINUTES} min` }]]),
    ],
    wants: null,
    isOpen: state === 'pending',
    by: decidedBy,
    howAnswered: (here) => answeredWords(approval, here),
  };
}

/** Adds the change that the call makes to files: below the call if it is short, else in the file. */
export function withChange(asked: Asked, files: readonly FileDiff[]): Asked {
  const lines = files.flatMap(({ diff }) => (diff === null || diff === '' ? [] : diff.trimEnd().split('\n')));
  if (lines.length === 0) return asked;
  const change = lines.map((line) => line.split('\t').map(revealed).join('\t')).join('\n');
  const text = `${asked.text}\nThe change:\n${fenced(change)}`;
  if (text.length <= WITH_CHANGE_MAX) return { ...asked, text };
  const hint = asked.rest === null ? '\nThe change is in the file.' : '';
  return { ...asked, text: asked.text + hint, rest: [asked.rest, change].filter((one) => one !== null).join('\n\n') };
}

/** `ended` is null while the question is open. */
export function askedQuestion(question: McpQuestion, ended: EndedQuestion | null): Asked {
  const { questionId, sessionId, server, message, url } = question;
  const fields = fieldsOf(question.schema);
  const quick = quickAnswers(question).map(({ label }, at): Choice => ({ key: String(at), label: revealed(label).slice(0, LABEL_MAX) }));
  const isWritten = url === null && fields.length > 0 && fields.length <= FIELDS_SHOWN_MAX;
  const summary = `The MCP server ${server} asks you something`;
  const lines = [
    `**${plain(summary)}**`,
    fenced(message),
    ...(url === null ? [] : ['It wants you to open this address:', fenced(url)]),
    ...(isWritten ? fields.map(fieldLine) : []),
    ...(isWritten || fields.length === 0 ? [] : ['It has too many fields for a chat. Answer it at the computer.']),
    `The answer goes to ${plain(server)} alone.`,
  ];
  return {
    askId: questionId,
    sessionId,
    summary,
    text: lines.join('\n'),
    rest: null,
    choices: [...pairs(quick), [{ key: declineKey, label: 'Decline' }]],
    wants: isWritten ? fields.map(({ name }) => name) : null,
    isOpen: ended === null,
    by: ended?.by ?? null,
    howAnswered: (here) => endedQuestionWords(ended, here),
  };
}

/** A question from an earlier run of the program: nothing waits for its answer any more. */
export function forgottenQuestion(askId: string): Asked {
  const summary = 'A question of an MCP server';
  const how = (): string => endedQuestionWords({ action: 'cancel', by: '' }, '');
  const nothing = { sessionId: '', rest: null, choices: [], wants: null, by: null };
  return { ...nothing, askId, summary, text: summary, isOpen: false, howAnswered: how };
}

function fieldLine({ name, title, about, kind, choices, isNeeded, standard }: QuestionField): string {
  const offered = choices.length > 0 ? ` (${choices.map((one) => one.title).join(', ')})` : kind === 'yes' ? ' (yes or no)' : '';
  const more = [title === name ? '' : title, about].filter((one) => one !== '').join('. ');
  const left = standard === undefined ? (isNeeded ? '' : ', may be left out') : `, ${JSON.stringify(standard)} by default`;
  return plain(`${name}${more === '' ? '' : `: ${more}`}${offered}${left}`);
}

function pairs(choices: readonly Choice[]): Choice[][] {
  return choices.flatMap((_one, at) => (at % 2 === 0 ? [choices.slice(at, at + 2)] : []));
}

/** Describes the exact call; `rest` is the full text if any of it is too long for a chat. */
export function questionText(approval: Approval): { text: string; rest: string | null } {
  const { headline, about, touches, exact } = approvalText(approval);
  const wider = approval.widerScope === null ? [] : [`For ${MINUTES} min covers: ${revealed(approval.widerScope)}`];
  const all = [headline, ...about, ...touches, ...wider];
  const isLong = exact.length > SHOWN_MAX || touches.length > TOUCHES_MAX || all.some((line) => line.length > PLAIN_MAX);
  const lines = [
    `**${plain(headline)}**`,
    ...about.map(plain),
    // A path in the arguments is relative to a folder that the chat does not name.
    ...touches.slice(0, TOUCHES_MAX).map(plain),
    fenced(exact.length > SHOWN_MAX ? `${exact.slice(0, SHOWN_MAX)}…` : exact),
    ...(isLong ? ['The whole call is in the file.'] : []),
    ...wider.map(plain),
  ];
  return { text: lines.join('\n'), rest: isLong ? [...all, '', exact].join('\n') : null };
}

/** Escapes a text, so that it is shown literally, without formatting. A text that is cut ends with an ellipsis. */
export function plain(text: string): string {
  const shown = revealed(text).replaceAll(/\s+/g, ' ').trim();
  return (shown.length > PLAIN_MAX ? `${shown.slice(0, PLAIN_MAX - 1)}…` : shown).replaceAll(/[\\`*_~[\]#>-]/g, String.raw`\$&`);
}

/** The text of a question for a service without formatting. The escapes are removed, except in blocks of code, which are literal. */
export function withoutEscapes(text: string): string {
  let inBlock = false;
  const lines = text.split('\n').map((line) => {
    if (line.startsWith('```')) inBlock = !inBlock;
    return inBlock ? line : line.replaceAll(/\\([\\`*_~[\]#>-])/g, '$1');
  });
  return lines.join('\n');
}

/** Some services end a block at any three backticks, however long its fence is. */
function fenced(text: string): string {
  const shown = text.replaceAll(/`{3,}/g, (run) => String.raw`\u{60}`.repeat(run.length));
  return `\`\`\`\n${shown}\n\`\`\``;
}
