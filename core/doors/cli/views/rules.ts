// Views of pinned rules, and the scope of a rule.

import { mainAgentId } from '../../../contracts/agents.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { ViewsOf } from '../kernel/view.ts';

export const ruleViews: ViewsOf<'rule'> = {
  'rule.pin': {
    params: ({ text = '', ...target }) => {
      if (target.sessionId !== undefined && target.agentId !== undefined)
        throw new AppError('invalid_params', 'Name either --session or --agent, not both.');
      return { text, ...(target.sessionId === undefined ? { agentId: mainAgentId } : {}), ...target };
    },
  },
};
