// The text of an approval, built once for every door: all that is approved, with invisible characters written out. A door only bounds it,
// and does not offer to approve what it does not show in full. Pure.

import { revealed } from '../base/visible-text.ts';
import type { Approval } from './policy.ts';

export interface ApprovalText {
  /** The loss or transfer that the call causes, if known; otherwise the request. */
  readonly headline: string;
  /** The risk, the reason, where it acts and what it may follow; a line each. */
  readonly about: readonly string[];
  /** The files and hosts that the call is known to touch; a line each. */
  readonly touches: readonly string[];
  /** The command line, or the tool with its arguments. */
  readonly exact: string;
}

const SOURCES_SHOWN_MAX = 10;

/** The risk without what the headline says. */
export function riskBelow({ risk, facts: { risks, does, told } }: Pick<Approval, 'risk' | 'facts'>): string {
  if (risks === undefined || risks.length === 0 || does === undefined || told === undefined) return risk;
  return risks
    .map((sentence) => told[sentence] ?? sentence)
    .filter((left) => left !== '')
    .join(' ');
}

export function approvalText(approval: Approval): ApprovalText {
  const { facts, summary, reason, ruleId, tool, args, origin } = approval;
  const risk = riskBelow(approval);
  const { command, input, does } = facts;
  const lines = [
    ...(does === undefined ? [] : [summary]),
    ...(risk === '' ? [] : [`Risk: ${risk}`]),
    `Why it is asked: ${reason} (${ruleId})`,
    ...(input === undefined ? [] : [`Typed into: ${input.id}, which runs ${input.command}`]),
    ...(command === null ? [] : [`Folder: ${command.cwd}`]),
    ...describeOrigin(origin?.taint ?? []),
  ];
  const touches = [
    ...facts.paths.map((path) => `${path.access === 'write' ? 'Writes' : 'Reads'}: ${path.real}`),
    ...facts.hosts.map((host) => `Host: ${host}`),
  ];
  return {
    headline: revealed(does ?? summary),
    about: lines.map(revealed),
    touches: touches.map(revealed),
    exact: revealed(command === null ? `${tool} ${args}` : command.line),
  };
}

/** The text for a place with room for so many characters. If it is cut, the place offers denial only. */
export function boundedText(approval: Approval, charsMax: number): { readonly text: string; readonly isWhole: boolean } {
  const { headline, about, touches, exact } = approvalText(approval);
  const whole = [headline, ...about, ...touches, exact].join('\n');
  if (whole.length <= charsMax) return { text: whole, isWhole: true };
  const more = `${whole.length - charsMax} more characters do not fit here. Read and approve it in the window or with trayclaw approvals.`;
  return { text: `${whole.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/, '')}…\n\nThis is only the beginning: ${more}`, isWhole: false };
}

function describeOrigin(taint: readonly { readonly where: string }[]): string[] {
  if (taint.length === 0) return [];
  const more = taint.length - SOURCES_SHOWN_MAX;
  const shown = taint.slice(0, SOURCES_SHOWN_MAX).map(({ where }) => where);
  return [`What led here includes words from: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}
