// Views of pinned rules, and the scope of a rule.

import { mainAgentId } from '../../../contracts/agents.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table, when } from '../table.ts';

export const ruleViews: ViewsOf<'rule'> = {
  'rule.pin': {
    params: ({ text = '', ...target }) => {
      if (target.sessionId !== undefined && target.agentId !== undefined)
        throw new AppError('invalid_params', 'Name either --session or --agent, not both.');
      return { text, ...(target.sessionId === undefined ? { agentId: mainAgentId } : {}), ...target };
    },
    show: ({ ruleId }) => `Pinned as ${ruleId}.`,
  },
  'rule.unpin': { show: ({ text }) => `No longer pinned: ${text}` },
  'rule.list': {
    json: ({ rules }) => rules,
    show: ({ rules }) =>
      table(
        ['RULE', 'FOR', 'BY', 'SINCE', 'TEXT'],
        rules.map(({ ruleId, scope, owner, text, by, atMs }) => [ruleId, `${scope} ${owner}`, by, when(atMs), text]),
        'No rules are pinned.',
      ),
  },
};
