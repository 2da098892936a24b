// Plain English sentences about turns, for the command line, chats and files, each defined once. The window has its own texts
// (renderer/lib/i18n). Pure.

import type { EventBodies } from './events.ts';
import { isRouteRef } from './route-name.ts';
import type { EndedQuestion } from './features/mcp.ts';
import type { Approval } from './policy.ts';
import type { CallView } from './turn-view.ts';

type Ended = EventBodies['turn.finished'];

const endWords: Readonly<Record<string, string>> = {
  cancelled: 'stopped',
  over_budget: 'over its budget',
  stopped: 'stopped by the panic stop',
};

/** For example "over its budget", after "Ended:". */
export function endWordsOf(status: string): string {
  return endWords[status] ?? status;
}

export const gateWords = { allow: 'allowed', ask: 'must ask', deny: 'refused' } as const;
const answerWords = { approve: 'Approved', deny: 'Denied', withdraw: 'Withdrawn' } as const;

/** For example "Approved by ada". */
export function describeAnswer({ decision, by, edited }: Pick<EventBodies['approval.decided'], 'decision' | 'by' | 'edited'>): string {
  const answered = answerWords[decision];
  return `${edited === undefined ? answered : `Changed and ${answered.toLowerCase()}`} by ${by}`;
}

const endSentences: Readonly<Record<Exclude<Ended['status'], 'done'>, string>> = {
  failed: 'That did not work.',
  cancelled: 'It was stopped before it was done.',
  over_budget: 'It ended because the budget is used up.',
  stopped: 'The panic stop ended it. Nothing runs until it is released.',
};
const nothingSaid = 'It is done. There was nothing to say.';

/** The reply to a chat when its turn has ended: the answer, or a sentence that says what happened. Never empty. */
export function replyText({ status, text, error }: Pick<Ended, 'status' | 'text' | 'error'>): string {
  if (status === 'done') return text.trim() === '' ? nothingSaid : text;
  const why = error === null ? '' : ` ${error.message}`;
  const soFar = text.trim() === '' ? '' : `${text.trim()}\n\n`;
  return `${soFar}${endSentences[status]}${why}`;
}

/** Why a call has no result; empty while it may still get one. */
export function notDone({ approval, decision, denial, error, unknownReason }: CallView): string {
  if (unknownReason !== null) return unknownReason;
  if (error !== null) return error.message;
  if (decision?.decision === 'deny') return decision.reason;
  if (approval?.state === 'withdrawn') return `Not done: ${endedFirst}.`;
  if (approval?.state === 'denied') return `Not done: ${saidNo(approval.decidedBy, denial ?? '')}.`;
  return '';
}

const endedFirst = 'the turn has ended';

/** Whether a denial came from the timeout: `timedOut` in policy.ts. */
const isClock = (by: string | null): boolean => by === 'timeout';

function saidNo(by: string | null, reason: string): string {
  if (isClock(by)) return 'no answer in time';
  return `${by ?? 'a person'} denied it${reason === '' ? '' : `: ${reason.replace(/\.$/, '')}`}`;
}

const doors: Readonly<Record<string, string>> = { window: 'in the window', cli: 'at the command line', 'the tray': 'in the tray' };
const states = { pending: 'still open', approved: 'approved', denied: 'denied' } as const;

const placeOf = (by: string, here: string): string =>
  here !== '' && by.startsWith(here) ? 'here' : (doors[by] ?? (isClock(by) ? 'by timeout' : `by ${by}`));

/** For example "Answered in the window: denied." If `decidedBy` begins with `here`, the person answered at this same door. */
export function answeredWords({ state, decidedBy, scope }: Approval, here: string): string {
  if (state === 'withdrawn') return `No longer asked: ${endedFirst}.`;
  const how = state === 'approved' && scope?.kind === 'minutes' ? `approved for ${scope.minutes} min` : states[state];
  return `Answered ${placeOf(decidedBy ?? '', here)}: ${how}.`;
}

/** For a question of an MCP server. Null means that it is open. */
export function endedQuestionWords(ended: Pick<EndedQuestion, 'action' | 'by'> | null, here: string): string {
  if (ended === null) return 'It is still open.';
  if (ended.action === 'cancel') return isClock(ended.by) ? 'No longer asked: no answer in time.' : 'No longer asked: the call has ended.';
  return `Answered ${placeOf(ended.by, here)}: ${ended.action === 'accept' ? 'sent' : 'declined'}.`;
}

export function unpricedWords({ model, scopes }: EventBodies['budget.unpriced']): string {
  const which = `The US-dollar limit of ${scopes.map((scope) => `the ${scope}`).join(' and ')}`;
  if (isRouteRef(model)) return `${which} cannot be enforced for ${model}: the price of a candidate is unknown.`;
  return `${which} cannot be enforced for ${model}: its price is unknown. Set its price under providers.${model.slice(0, model.indexOf('/'))}.prices, or set a limit in tokens.`;
}

/** The sentence for `model.failed` if another model takes over. */
export function failoverWords({ error, failover }: Pick<EventBodies['model.failed'], 'error' | 'failover'>): string {
  const { to = '', waitMs = 0 } = failover ?? {};
  return `${error.message} ${waitMs < 1_000 ? `${to} takes over.` : `${to} takes over in ${Math.ceil(waitMs / 1000)} s.`}`;
}

/** The sentence for `model.failed` if the answer broke off. */
export function brokeOffWords({ error }: Pick<EventBodies['model.failed'], 'error'>): string {
  return `${error.message} It is asked once more.`;
}
