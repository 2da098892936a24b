// Operations on agents and on the helpers they called.

import type { HelperListing } from '../../contracts/agent-ops.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { HelperJob } from '../../runtime/a2a/a2a.ts';
import type { OpsDeps } from './deps.ts';

type AgentOps = Pick<OpHandlers, 'agent.list' | 'agent.get' | 'helper.list' | 'helper.cancel'>;

export function createAgentOps(deps: OpsDeps): AgentOps {
  return {
    'agent.list': () => ({ agents: deps.agents.list() }),
    'agent.get': ({ agentId }) => ({ ...deps.agents.get(agentId), identity: deps.agents.identityOf(agentId) }),
    'helper.list': ({ sessionId, all }) => {
      const jobs = deps.helpers.list(sessionId ?? null);
      return { helpers: jobs.filter(({ state }) => all === true || state !== 'finished').map(listed) };
    },
    'helper.cancel': ({ jobId }, caller) => listed(deps.helpers.cancel(jobId, caller.actor, 'The user ended it.')),
  };
}

function listed(job: HelperJob): HelperListing {
  const { jobId, agentId, label, task, mode, state, status, text, depth, from, attempt, deadlineMs } = job;
  const { helperSessionId, helperTurnId, createdAtMs, finishedAtMs, costUsd } = job;
  const about = { jobId, agentId, label, task, mode, state, status, text, depth, from, attempt, deadlineMs };
  return { ...about, helperSessionId, helperTurnId, createdAtMs, finishedAtMs, costUsd };
}
