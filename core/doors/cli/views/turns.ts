// Views of turns, their events and their context packs, and of pinned rules with their scope.

import { describePack, describePreview, describeTurn } from '../insight.ts';
import { tabled, type ViewsOf } from '../kernel/view.ts';
import { mainAgentId } from '../../../contracts/agents.ts';
import { AppError } from '../../../contracts/errors.ts';

export const turnViews: ViewsOf<'turn'> = {
  'turn.get': { show: (turn, { paint }) => describeTurn(turn, paint) },
  'turn.events': {
    show: ({ events }) =>
      tabled(events, { SEQ: 'seq', WHEN: 'atMs', STEP: 'step', PHASE: ({ phase }) => phase ?? '', TYPE: 'type' }, 'Nothing was recorded.'),
    next: ({ events, hasMore }) => (hasMore ? `--after ${events.at(-1)?.seq ?? 0}` : null),
  },
};

export const packViews: ViewsOf<'pack'> = {
  'pack.get': { show: describePack },
  'pack.preview': { show: describePreview },
};

export const ruleViews: ViewsOf<'rule'> = {
  'rule.pin': {
    params: ({ text = '', ...target }) => {
      if (target.sessionId !== undefined && target.agentId !== undefined)
        throw new AppError('invalid_params', 'Name either --session or --agent, not both.');
      return { text, ...(target.sessionId === undefined ? { agentId: mainAgentId } : {}), ...target };
    },
  },
};
