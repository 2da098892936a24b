// `rules`: what the model is told in every request, word for word, until it is taken back.

import type { Command } from 'commander';
import { mainAgentId } from '../../contracts/agents.ts';
import { AppError } from '../../contracts/errors.ts';
import type { PinnedRule } from '../../contracts/context-ops.ts';
import type { CommandContext, Run } from './command-context.ts';
import { table, when } from './table.ts';

interface Target {
  readonly session?: string;
  readonly agent?: string;
  readonly replace?: string;
}

export function registerRules(program: Command, run: Run): void {
  const rules = program.command('rules').description('rules the model is shown in every request, word for word');
  rules
    .command('list')
    .description('list the rules that hold')
    .option('--session <id>', 'those that hold in this session')
    .action(({ session }: { session?: string }) => run((context) => listRules(context, session)));
  rules
    .command('pin')
    .description(`pin a rule for an agent (${mainAgentId} by default) or for one session`)
    .argument('<text...>')
    .option('--session <id>', 'for this session')
    .option('--agent <id>', 'for this agent; main by default')
    .option('--replace <id>', 'in place of this one of the same session or agent')
    .action((words: string[], target: Target) => run((context) => pinRule(context, words.join(' '), target)));
  rules
    .command('unpin')
    .description('unpin a rule')
    .argument('<id>')
    .option('--session <id>', 'in this session alone, where a fork took it along')
    .action((ruleId: string, { session }: Target) => run((context) => unpinRule(context, ruleId, session)));
}

function listRules(context: CommandContext, sessionId: string | undefined): Promise<number> {
  return context.runOp('rule.list', sessionId === undefined ? {} : { sessionId }, {
    json: ({ rules }) => rules,
    human: ({ rules }) => describe(rules),
  });
}

function unpinRule(context: CommandContext, ruleId: string, sessionId: string | undefined): Promise<number> {
  const params = { ruleId, ...(sessionId === undefined ? {} : { sessionId }) };
  return context.runOp('rule.unpin', params, { human: ({ text }) => `No longer pinned: ${text}` });
}

function pinRule(context: CommandContext, text: string, { session, agent, replace }: Target): Promise<number> {
  if (session !== undefined && agent !== undefined) throw new AppError('invalid_params', 'Name either --session or --agent, not both.');
  const target = session === undefined ? { agentId: agent ?? mainAgentId } : { sessionId: session };
  const params = { text, ...target, ...(replace === undefined ? {} : { replaces: replace }) };
  return context.runOp('rule.pin', params, { human: ({ ruleId }) => `Pinned as ${ruleId}.` });
}

function describe(rules: readonly PinnedRule[]): string {
  const rows = rules.map(({ ruleId, scope, owner, text, by, atMs }) => [ruleId, `${scope} ${owner}`, by, when(atMs), text]);
  return table(['RULE', 'FOR', 'BY', 'SINCE', 'TEXT'], rows, 'No rules are pinned.');
}
