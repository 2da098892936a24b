// The tools by which an agent calls other agents: subagent waits for the result, spawn does not, spawn_status reads, spawn_cancel stops. A
// subagent's own calls pass the gate like any other call; these tools approve nothing.

import * as z from 'zod';
import type { AgentListing, HelperLimits } from '../../contracts/agents.ts';
import type { CallFacts, TaintSource, ToolContext, ToolDefinition, ToolResult } from '../../contracts/tools.ts';
import { defineTool } from '../../hands/tools/tools.ts';
import type { HelperQueue } from './helper-queue.ts';
import { describeJob, resultOf } from './helper-words.ts';
import type { HelperJob } from './rows.ts';
import type { CallPlace } from './plan-call.ts';

type HelperCalls = Pick<HelperQueue, 'call' | 'whenFinished' | 'list' | 'cancel'>;

export interface HelperToolDeps {
  readonly calls: HelperCalls;
  readonly agents: readonly Pick<AgentListing, 'agentId' | 'description' | 'capabilities'>[];
  readonly limits: Pick<HelperLimits, 'minutes'>;
  sourcesOf(sessionId: string): readonly TaintSource[];
  /** The host that a task for this agent is sent to; null for an agent of this machine. */
  readonly hostOf: (agentId: string) => string | null;
}

const touchesNothing: CallFacts = { class: 'read', paths: [], command: null, hosts: [] };
const TASK_MAX = 50_000;
/** Extra time beyond the subagent's own limit, so that its end can be reported. */
const GRACE_MS = 60_000;
const LISTED_MAX = 50;

const help = z.strictObject({
  task: z.string().min(1).max(TASK_MAX).describe('Everything the subagent needs to know; it sees nothing of this conversation.'),
  label: z.string().min(1).max(100).optional().describe('The task in a few words, for the person.'),
  agent_id: z.string().min(1).max(40).optional().describe('Which agent. Default: the same as you.'),
});
type Help = z.infer<typeof help>;

export function createHelperTools(deps: HelperToolDeps): ToolDefinition[] {
  return [createSubagent(deps), createSpawn(deps), createSpawnStatus(deps), createSpawnCancel(deps)];
}

function createSubagent(deps: HelperToolDeps): ToolDefinition {
  const { calls, agents, limits } = deps;
  return defineTool({
    name: 'subagent',
    description: `Give a task to a subagent and wait for its answer. Several calls in one step run in parallel.${nameAgents(agents)}`,
    input: help,
    class: 'read',
    shows: { verb: 'ask_helper', target: ['label', 'task'] },
    isPrivate: 'sessions',
    // A repeated call returns the same subagent, by the call's id. Its actions run once and pass the gate themselves.
    idempotency: () => 'pure',
    timeoutMs: Math.round(limits.minutes * 60_000) + GRACE_MS,
    facts: (args) => factsOf(deps, args),
    summarize: (args) => `ask ${calledOf(deps, args)}: ${shown(args)}`,
    run: async (args, context): Promise<ToolResult> => {
      const job = calls.call(placeOf(context), { task: args.task, label: args.label, agentId: args.agent_id, mode: 'wait' });
      const ended = await calls.whenFinished(job.jobId, context.signal);
      return { ...resultOf(ended), untrusted: deps.sourcesOf(ended.helperSessionId ?? '') };
    },
  });
}

function createSpawn(deps: HelperToolDeps): ToolDefinition {
  const { calls, agents } = deps;
  return defineTool({
    name: 'spawn',
    description: `Give a task to a subagent and continue at once; its answer arrives later in this conversation.${nameAgents(agents)}`,
    input: help,
    class: 'read',
    shows: { verb: 'start_helper', target: ['label', 'task'] },
    isPrivate: 'sessions',
    idempotency: () => 'idempotent',
    facts: (args) => factsOf(deps, args),
    summarize: (args) => `start ${calledOf(deps, args)}: ${shown(args)}`,
    run: (args, context): Promise<ToolResult> => {
      const job = calls.call(placeOf(context), { task: args.task, label: args.label, agentId: args.agent_id, mode: 'background' });
      return Promise.resolve({ forModel: `Started ${job.jobId} (${job.label}). Its answer will arrive as a message.`, isAsync: true });
    },
  });
}

function createSpawnStatus(deps: HelperToolDeps): ToolDefinition {
  const { calls } = deps;
  return defineTool({
    name: 'spawn_status',
    description: "Show the status of this conversation's subagents, or of one of them.",
    input: z.strictObject({ job_id: z.string().min(1).max(100).optional() }),
    class: 'read',
    shows: { verb: 'look_at_helpers', target: ['job_id'] },
    isPrivate: 'sessions',
    idempotency: () => 'pure',
    facts: () => touchesNothing,
    summarize: ({ job_id: jobId }) => (jobId === undefined ? 'check its subagents' : `check the subagent ${jobId}`),
    run: ({ job_id: jobId }, { sessionId }): Promise<ToolResult> => {
      const jobs = ownJobs(calls, sessionId, jobId);
      if (jobs.length === 0)
        return Promise.resolve(jobId === undefined ? { forModel: 'No subagent was started here.' } : unknownJob(jobId));
      const untrusted = jobs.flatMap(({ helperSessionId }) => (helperSessionId === null ? [] : deps.sourcesOf(helperSessionId)));
      return Promise.resolve({ forModel: jobs.map(describeJob).join('\n'), untrusted });
    },
  });
}

function createSpawnCancel({ calls }: HelperToolDeps): ToolDefinition {
  return defineTool({
    name: 'spawn_cancel',
    description: 'Stop a subagent of this conversation that was started with spawn.',
    input: z.strictObject({ job_id: z.string().min(1).max(100) }),
    class: 'read',
    shows: { verb: 'end_helper', target: ['job_id'] },
    idempotency: () => 'idempotent',
    facts: () => touchesNothing,
    summarize: ({ job_id: jobId }) => `stop the subagent ${jobId}`,
    run: ({ job_id: jobId }, { sessionId }): Promise<ToolResult> => {
      if (ownJobs(calls, sessionId, jobId).length === 0) return Promise.resolve(unknownJob(jobId));
      return Promise.resolve({ forModel: describeJob(calls.cancel(jobId, 'its caller', 'The caller no longer wants it.')) });
    },
  });
}

function calledOf({ hostOf }: HelperToolDeps, { agent_id: agentId }: Help): string {
  const host = agentId === undefined ? null : hostOf(agentId);
  return host === null ? 'a subagent' : `the agent ${agentId} at ${host}`;
}

/** A task for an agent on another machine counts as network access. */
function factsOf({ hostOf }: HelperToolDeps, { agent_id: agentId }: Help): CallFacts {
  const host = agentId === undefined ? null : hostOf(agentId);
  return host === null ? touchesNothing : { class: 'network', paths: [], command: null, hosts: [host] };
}

/** The subagents of this conversation; those of other conversations are hidden. */
function ownJobs(calls: HelperCalls, sessionId: string, jobId: string | undefined): HelperJob[] {
  return calls
    .list(sessionId)
    .filter((job) => jobId === undefined || job.jobId === jobId)
    .slice(0, LISTED_MAX);
}

function unknownJob(jobId: string): ToolResult {
  return { forModel: `No subagent ${jobId} was started in this conversation.`, isError: true };
}

function placeOf({ sessionId, turnId, idempotencyKey }: ToolContext): CallPlace {
  return { sessionId, turnId, callId: idempotencyKey };
}

function shown({ label, task }: Help): string {
  return (label ?? task).replaceAll(/\s+/g, ' ').slice(0, 100);
}

function nameAgents(agents: HelperToolDeps['agents']): string {
  const others = agents.filter(
    ({ agentId, description, capabilities }) => agentId !== 'main' || description !== '' || capabilities.length > 0,
  );
  if (others.length === 0) return '';
  const lines = others.map(
    ({ agentId, description, capabilities }) => `${agentId} (${[description, ...capabilities].filter((text) => text !== '').join('; ')})`,
  );
  return ` Agents: ${lines.join(', ')}.`;
}
