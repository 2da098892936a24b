// Subagents: a turn of one agent calls another agent, waits or continues, and receives the result once.

import type { AgentRegistry } from '../../agent/registry/registry.ts';
import type { PromptText } from '../../contracts/own-prompts.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { HelperQueue } from './helper-queue.ts';
import { helperMigrations, HelperRows, type HelperJob } from './rows.ts';
import { createHelperTools } from './tools.ts';
import type { HelperListing } from '../../contracts/features/helpers.ts';
import type { OpHandlers } from '../../contracts/ops.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'later' | 'ids' | 'logger' | 'log' | 'panic' | 'turns' | 'sources' | 'crashPoints'> & {
  readonly agents: AgentRegistry;
  /** TrayClaw's own prompts, as the person edited them. */
  readonly prompt: PromptText;
  /** Calls that leave this machine. */
  readonly remote: {
    /** The host that a task for this agent is sent to; null for an agent of this machine. */
    readonly hostOf: (agentId: string) => string | null;
    /** The model through which another transport runs a call of this agent; null for the local queue. */
    readonly carrierOf: (agentId: string) => string | null;
  };
};

export const helpers = defineBuiltInFeature({
  name: 'helpers',
  migrations: helperMigrations,
  rows: ({ db }) => new HelperRows(db),
  create: ({ config, sources, agents, prompt, remote, ...spine }: Taken, rows: HelperRows) => {
    const limits = config.helpers;
    const { hostOf, carrierOf } = remote;
    const sourcesOf = (sessionId: string) => sources.ofSession(sessionId);
    const queue = new HelperQueue({ ...spine, rows, limits, agents, sourcesOf, carrierOf, instructions: () => prompt('trayclaw-helper') });
    return {
      handlers: createAgentOps({ agents, helpers: queue }),
      tools: createHelperTools({ calls: queue, agents: agents.list(), limits, sourcesOf, hostOf }),
      gives: { helpers: queue },
      takeUp: () => {
        queue.begin();
      },
      dispose: () => {
        queue.dispose();
      },
    };
  },
});

interface Handled {
  readonly agents: Pick<AgentRegistry, 'list' | 'get' | 'identityOf'>;
  readonly helpers: Pick<HelperQueue, 'list' | 'cancel'>;
}

/** The operations on agents and on their subagents. */
function createAgentOps(deps: Handled) {
  return {
    'agent.list': () => ({ agents: deps.agents.list() }),
    'agent.get': ({ agentId }) => ({ ...deps.agents.get(agentId), identity: deps.agents.identityOf(agentId) }),
    'helper.list': ({ sessionId, all }) => {
      const jobs = deps.helpers.list(sessionId ?? null);
      return { helpers: jobs.filter(({ state }) => all === true || state !== 'finished').map(listed) };
    },
    'helper.cancel': ({ jobId }, caller) => listed(deps.helpers.cancel(jobId, caller.actor, 'The user ended it.')),
  } satisfies Partial<OpHandlers>;
}

function listed(job: HelperJob): HelperListing {
  const { jobId, agentId, label, task, mode, state, status, text, depth, from, attempt, deadlineMs } = job;
  const { helperSessionId, helperTurnId, createdAtMs, finishedAtMs, costUsd } = job;
  const about = { jobId, agentId, label, task, mode, state, status, text, depth, from, attempt, deadlineMs };
  return { ...about, helperSessionId, helperTurnId, createdAtMs, finishedAtMs, costUsd };
}
