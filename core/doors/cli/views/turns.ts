// Views of turns, their events and their context packs.

import { describePack, describeTurn } from '../insight.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table, when } from '../table.ts';

export const turnViews: ViewsOf<'turn'> = {
  'turn.get': { show: (turn, { paint }) => describeTurn(turn, paint) },
  'turn.events': {
    show: ({ events }) =>
      table(
        ['SEQ', 'WHEN', 'STEP', 'PHASE', 'TYPE'],
        events.map((one) => [String(one.seq), when(one.atMs), String(one.step), one.phase ?? '', one.type]),
        'Nothing was recorded.',
      ),
    next: ({ events, hasMore }) => (hasMore ? `--after ${events.at(-1)?.seq ?? 0}` : null),
  },
};

export const packViews: ViewsOf<'pack'> = {
  'pack.get': { show: describePack },
};
