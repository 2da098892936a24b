// Views of agents and subagents.

import type { HelperListing } from '../../../contracts/features/helpers.ts';
import type { AgentListing } from '../../../contracts/agents.ts';
import { listed, tabled, type ViewsOf } from '../kernel/view.ts';
import { facts } from '../table.ts';

export const agentViews: ViewsOf<'agent'> = {
  'agent.list': listed(
    'agents',
    {
      AGENT: 'agentId',
      MODEL: ({ model }) => model ?? 'default',
      TOOLS: ({ tools }) => (tools === null ? 'all' : String(tools.length)),
      'MAY CALL': ({ helpers }) => helpers.join(' '),
      '': 'description',
    },
    'Nothing to show.',
  ),
  'agent.get': { show: (agent) => `${describe(agent)}\n\n${agent.identity}`.trim() },
};

export const helperViews: ViewsOf<'helper'> = {
  // In a process that runs only for this command, subagents of an earlier process are not running.
  'helper.list': { json: ({ helpers }) => helpers, show: ({ helpers }, { isRunning }) => describeHelpers(helpers, isRunning) },
  'helper.cancel': { show: (helper) => describeHelpers([helper]) },
};

function describe(agent: AgentListing): string {
  return facts([
    ['agent', `${agent.agentId}${agent.name === agent.agentId ? '' : ` (${agent.name})`}`],
    ['about', agent.description],
    ['good at', agent.capabilities.join(', ')],
    ['model', agent.model ?? 'default'],
    ['tools', agent.tools?.join(' ') ?? 'all'],
    ['may call', agent.helpers.join(' ')],
    ['chats', agent.routes.map(({ channel, chatId }) => (chatId === null ? channel : `${channel}:${chatId}`)).join(' ')],
    ['bounds', agent.bounds === null ? 'none' : JSON.stringify(agent.bounds)],
  ]);
}

function stateOf(state: string, isRun: boolean): string {
  return state === 'running' && !isRun ? 'waiting: no server runs' : state;
}

function describeHelpers(helpers: readonly HelperListing[], isRun = true): string {
  const state = ({ state: now, status }: HelperListing): string => stateOf(status ?? now, isRun);
  return tabled(
    helpers,
    { SUBAGENT: 'jobId', AGENT: 'agentId', STATE: state, LEVEL: 'depth', CALLED: 'createdAtMs', COST: 'costUsd', '': 'label' },
    'No subagent runs or waits.',
  );
}
