// Views of signals.

import type { ViewsOf } from '../kernel/view.ts';
import { table, when } from '../table.ts';

export const signalViews: ViewsOf<'signal'> = {
  'signal.list': {
    json: ({ signals }) => signals,
    show: ({ signals }) =>
      table(
        ['WHEN', 'SOURCE', 'NAME', 'ATTENTION', 'WHAT WAS DONE', 'TEXT'],
        signals.map((one) => [when(one.atMs), one.source, one.name, one.attention, one.disposition, one.reason ?? one.text]),
        'No signals.',
      ),
    next: ({ nextBefore }) => (nextBefore === null ? null : `--before ${nextBefore}`),
  },
  'signal.send': {
    show: ({ repeated, disposition, turnId }) =>
      repeated ? 'It was there before.' : `${disposition}${turnId === undefined ? '' : `: turn ${turnId}`}`,
  },
};
