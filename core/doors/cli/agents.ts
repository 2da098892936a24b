// `agents` and `helpers`: who there is, what each may use, and whom they called.

import type { Command } from 'commander';
import type { HelperListing } from '../../contracts/features/helpers.ts';
import type { AgentListing } from '../../contracts/agents.ts';
import type { Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { facts, money, table, when } from './table.ts';
import { cliCaller } from './caller.ts';

export function registerAgents(program: Command, run: Run): void {
  const agents = program.command('agents').description('the agents of config.yaml');
  agents
    .command('list')
    .description('list the agents, main first')
    .action(() =>
      run((context) => context.runOp('agent.list', {}, { json: (result) => result.agents, human: (result) => describeAll(result.agents) })),
    );
  agents
    .command('show')
    .description('show an agent and its identity')
    .argument('<id>')
    .action((agentId: string) =>
      run((context) => context.runOp('agent.get', { agentId }, { human: (agent) => `${describe(agent)}\n\n${agent.identity}`.trim() })),
    );
}

function describeAll(agents: readonly AgentListing[]): string {
  const rows = agents.map(({ agentId, model, tools, helpers, description }) => [
    agentId,
    model ?? 'default',
    tools === null ? 'all' : String(tools.length),
    helpers.join(' '),
    description,
  ]);
  return table(['AGENT', 'MODEL', 'TOOLS', 'MAY CALL', ''], rows, 'Nothing to show.');
}

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

interface ListOptions {
  readonly session?: string;
  readonly all?: boolean;
}

function stateOf(state: string, isRun: boolean): string {
  return state === 'running' && !isRun ? 'waiting: no server runs' : state;
}

export function registerHelpers(program: Command, run: Run): void {
  const helpers = program.command('helpers').description('subagents: agents started by another agent');
  helpers
    .command('list')
    .description('list the subagents that wait or run')
    .option('--session <id>', 'called in this conversation')
    .option('--all', 'also those that have ended')
    .action(({ session, all }: ListOptions) => {
      const params = { ...(session === undefined ? {} : { sessionId: session }), ...(all === true ? { all } : {}) };
      return run((context) =>
        context.withClaw('any', async ({ claw, instance }) => {
          const { helpers: found } = await claw.op('helper.list', params, cliCaller);
          // Looking takes nothing up: what an earlier process left runs nowhere.
          context.output.result(found, () => describeHelpers(found, instance !== null));
          return exitCodes.done;
        }),
      );
    });
  helpers
    .command('cancel')
    .description('cancel a subagent and all that it started')
    .argument('<id>')
    .action((jobId: string) =>
      run((context) => context.runOp('helper.cancel', { jobId }, { human: (helper) => describeHelpers([helper]) })),
    );
}

function describeHelpers(helpers: readonly HelperListing[], isRun = true): string {
  const rows = helpers.map(({ jobId, agentId, state, status, depth, createdAtMs, costUsd, label }) => [
    jobId,
    agentId,
    stateOf(status ?? state, isRun),
    String(depth),
    when(createdAtMs),
    money(costUsd),
    label,
  ]);
  return table(['HELPER', 'AGENT', 'STATE', 'LEVEL', 'CALLED', 'COST', ''], rows, 'No helper is at work.');
}
