// What a chat is told when a turn that came from it has ended: the answer, or an honest sentence in its place. Pure.

import type { EventBodies } from '../../contracts/events.ts';

type Ended = EventBodies['turn.finished'];

const sentences: Readonly<Record<Exclude<Ended['status'], 'done'>, string>> = {
  failed: 'That did not work.',
  cancelled: 'It was stopped before it was done.',
  over_budget: 'It ended because the budget is used up.',
  stopped: 'The panic stop ended it. Nothing runs until it is released.',
};
const nothingSaid = 'It is done. There was nothing to say.';

/** Never empty. */
export function replyText({ status, text, error }: Pick<Ended, 'status' | 'text' | 'error'>): string {
  if (status === 'done') return text.trim() === '' ? nothingSaid : text;
  const why = error === null ? '' : ` ${error.message}`;
  const soFar = text.trim() === '' ? '' : `${text.trim()}\n\n`;
  return `${soFar}${sentences[status]}${why}`;
}
