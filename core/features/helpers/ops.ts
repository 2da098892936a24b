// The operations on agents and on their subagents.

import type { agentOps, HelperListing } from '../../contracts/features/helpers.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import type { HelperJob } from './rows.ts';
import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { HelperQueue } from './helper-queue.ts';

type AgentOps = Pick<OpHandlers, keyof typeof agentOps>;

interface Handled {
  readonly agents: Pick<AgentRegistry, 'list' | 'get' | 'identityOf'>;
  readonly helpers: Pick<HelperQueue, 'list' | 'cancel'>;
}

export function createAgentOps(deps: Handled): AgentOps {
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
