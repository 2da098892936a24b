// The text of an approval in a native dialog or a notification: short and exact, with invisible characters written out. If the call does
// not fit, the dialog says so and offers no approval. Pure.

import { revealed } from '../../core/base/visible-text.ts';
import { approvalText } from '../../core/contracts/approval-text.ts';
import type { Approval, GrantScope } from '../../core/contracts/policy.ts';
import { graveKind } from '../../core/contracts/grave-calls.ts';

export interface DialogText {
  readonly message: string;
  readonly detail: string;
  /** False if the exact call does not fit; the dialog then offers only details and denial. */
  readonly showsAll: boolean;
}

const EXACT_LENGTH_MAX = 1_200;
const EXACT_LINES_MAX = 16;
const NOTICE_LENGTH_MAX = 180;
const SUMMARY_LENGTH_MAX = 400;
const REASON_LENGTH_MAX = 600;

export function dialogText(approval: Approval): DialogText {
  const { headline, about, exact } = approvalText(approval);
  const fits = exact.length <= EXACT_LENGTH_MAX && exact.split('\n').length <= EXACT_LINES_MAX && headline.length <= SUMMARY_LENGTH_MAX;
  const showsAll = fits && about.every((line) => line.length <= REASON_LENGTH_MAX);
  const detail = [...about.map((line) => cut(line, REASON_LENGTH_MAX)), fits ? exact : cutCall(exact)].join('\n\n');
  return { message: cut(headline, SUMMARY_LENGTH_MAX), detail, showsAll };
}

/** Desktops on Linux read the body as markup and leave out what they do not know, so there it is written as markup. */
export function noticeText(approval: Approval, platform: NodeJS.Platform): { title: string; body: string } {
  const { headline, about, exact } = approvalText(approval);
  const summary = cut(headline.replaceAll('\n', ' '), NOTICE_LENGTH_MAX);
  // A call that can be approved in the notification is shown there verbatim.
  const lines = fitsNotice(approval) ? [summary, exact, about.join(' ')] : [summary, cut(revealed(approval.risk), NOTICE_LENGTH_MAX)];
  const body = lines.join('\n');
  return { title: 'TrayClaw asks', body: platform === 'linux' ? body.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : body };
}

/**
 * True if the call can be approved in a notification, which has room for one line. Longer and grave calls are answered where they can be
 * read.
 */
export function fitsNotice(approval: Approval): boolean {
  if (graveKind(approval.facts) !== null) return false;
  const { headline, about, exact } = approvalText(approval);
  const fits = [headline, exact].every((text) => text.length <= NOTICE_LENGTH_MAX) && about.join(' ').length <= 2 * NOTICE_LENGTH_MAX;
  return fits && dialogText(approval).showsAll && ![exact, ...about].some((text) => text.includes('\n'));
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}

function cutCall(exact: string): string {
  const head = exact.split('\n').slice(0, EXACT_LINES_MAX).join('\n').slice(0, EXACT_LENGTH_MAX);
  return `${head}\n\nThis is only the beginning: ${exact.length - head.length} more characters do not fit here. Open the details to read all of it.`;
}

export interface DialogChoice {
  readonly label: string;
  readonly answer: { readonly decision: 'approve'; readonly scope: GrantScope } | { readonly decision: 'deny' } | 'details';
}

/** Lists denial first: Return and Escape choose it. A grave call can be approved only in the window, where that takes a second action. */
export function dialogChoices(approval: Approval, showsAll: boolean): readonly DialogChoice[] {
  const deny: DialogChoice = { label: 'Deny', answer: { decision: 'deny' } };
  const details: DialogChoice = { label: 'Open details', answer: 'details' };
  if (!showsAll || graveKind(approval.facts) !== null) return [deny, details];
  const scopes: readonly (readonly [string, GrantScope])[] = [
    ['Approve once', { kind: 'once' }],
    ['Approve for 15 minutes', { kind: 'minutes', minutes: 15 }],
    ['Approve for this session', { kind: 'session' }],
    ['Approve until revoked', { kind: 'always' }],
  ];
  const offered = approval.widerScope === null ? scopes.slice(0, 1) : scopes;
  return [deny, ...offered.map(([label, scope]): DialogChoice => ({ label, answer: { decision: 'approve', scope } })), details];
}
