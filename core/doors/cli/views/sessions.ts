// Views of sessions.

import { counted } from '../../../base/counted.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import type { SessionInfo } from '../../../contracts/op-results.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { oneLine } from '../table.ts';

export const sessionViews: ViewsOf<'session'> = {
  'session.get': {
    show: ({ session, events }) =>
      `${sessionLine(session)}\n\n` +
      tabled(events, { '#': 'sessionSeq', WHEN: 'atMs', EVENT: 'type', WHAT: ({ body }) => eventText(body) }, 'No events.'),
    next: ({ earlierBefore }) => (earlierBefore === null ? null : `--before ${earlierBefore}`),
  },
  'session.configure': {
    // `default` is the typed word for no model.
    params: ({ sessionId = '', model, ...others }) => ({
      sessionId,
      ...others,
      ...(model === undefined ? {} : { model: model === 'default' ? null : model }),
    }),
    show: sessionLine,
  },
  'session.archive': { show: sessionLine },
  'session.compact': { show: (compacted, { forStdout }) => forStdout(describeCompacted(compacted)) },
};

function sessionLine(session: SessionInfo): string {
  return `${session.sessionId}  ${oneLine(session.title)}${session.archived ? ' (archived)' : ''}`;
}

function eventText(body: unknown): string {
  return typeof body === 'object' && body !== null && 'text' in body ? String(body.text) : JSON.stringify(body);
}

function describeCompacted({ summaryId, messages, text, method }: OpResult<'session.compact'>): string {
  if (summaryId === null) return 'There is nothing to sum up yet.';
  return `${counted(messages, 'message is', 'messages are')} summed up${method === 'extract' ? ' by rule, without a model' : ''}.\n\n${text}`;
}
