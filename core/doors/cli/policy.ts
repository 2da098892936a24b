// `policy`: what the gate would say to a call, and what config.yaml tells it.

import type { Command } from 'commander';
import * as z from 'zod';
import type { Config, PolicyRule } from '../../contracts/config.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { AppError } from '../../contracts/errors.ts';
import { parseJsonArgument, type CommandContext, type Run } from './command-context.ts';
import { facts } from './table.ts';

const explainRequestSchema = z.strictObject({ tool: z.string().min(1), args: z.unknown(), cwd: z.string().optional() });

const modes: Readonly<Record<Config['policy']['mode'], string>> = {
  supervised: 'reading in the workspace is free, everything else asks',
  'workspace-free': 'reading and changing files in the workspace is free, everything else asks',
  'locked-down': 'reading in the workspace is free, everything else is refused',
};

export function registerPolicy(program: Command, run: Run): void {
  const policy = program.command('policy').description('what the policy would decide, and why');
  policy
    .command('explain')
    .description('explain what the policy would decide about a call; runs nothing')
    .argument('<request>', '{tool, args, cwd?} as JSON; runs nothing')
    .action((request: string) => run((context) => explainPolicy(context, request)));
  policy
    .command('show')
    .description('show the mode, rules, preset permissions and limits')
    .action(() =>
      run((context) =>
        context.runOp(
          'config.get',
          {},
          { json: ({ config }) => config.policy, human: ({ config, path }) => describePolicy(config.policy, path) },
        ),
      ),
    );
}

function explainPolicy(context: CommandContext, text: string): Promise<number> {
  const given = parseJsonArgument(text, 'The request');
  const parsed = explainRequestSchema.safeParse(given);
  if (!parsed.success) {
    const issues = describeIssues(parsed.error.issues, { given, whole: 'the request' });
    throw new AppError('invalid_params', `The request does not fit {tool, args, cwd?}: ${issues.join('; ')}.`);
  }
  const { tool, args, cwd } = parsed.data;
  return context.runOp(
    'policy.explain',
    { tool, args, ...(cwd === undefined ? {} : { cwd }) },
    {
      human: (result, paint) =>
        facts([
          ['Decision', paint('bold', result.decision)],
          ['Rule', result.ruleId],
          ['Reason', result.reason],
          ['Mode', result.mode],
          ['Class', result.class],
          ...(result.facts.risks ?? []).map((risk) => ['Risk', risk] as const),
          ...result.facts.paths.map((path) => [path.access === 'write' ? 'Writes' : 'Reads', path.real] as const),
          ...(result.facts.command === null ? [] : [['Command', result.facts.command.line] as const]),
          ...result.facts.hosts.map((host) => ['Host', host] as const),
          ...(result.grantId === null ? [] : [['Grant', result.grantId] as const]),
          ...result.choices.map(({ covers }) => ['Could allow', covers] as const),
        ]),
    },
  );
}

export function describePolicy(policy: Config['policy'], path: string): string {
  const lists = [
    ['Commands', policy.allowCommands],
    ['Domains', policy.allowDomains],
    ['Never opened', policy.denyDomains],
    ['Refused tools', policy.denyTools],
  ] as const;
  return facts([
    ['Mode', `${policy.mode}: ${modes[policy.mode]}`],
    ...policy.rules.map((rule, at) => [`Rule ${at + 1}`, describeRule(rule)] as const),
    ...lists.map(([name, entries]) => [name, entries.length === 0 ? 'none' : entries.join(', ')] as const),
    ...Object.entries(policy.limits.callsPerMinute).map(
      ([name, limit]) => ['Limit', `${limit} calls of ${name} a minute, then it asks`] as const,
    ),
    ['Kept in', `${path}; a change holds from the next start`],
  ]);
}

function describeRule({ when, then, reason }: PolicyRule): string {
  const conditions = Object.entries(when).map(([name, entries = []]) => `${name} ${entries.join(' or ')}`);
  return `${then} ${conditions.join(' and ')}${reason === undefined ? '' : ` (${reason})`}`;
}
