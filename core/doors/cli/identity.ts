// `identity` and `prompts`: who an agent is, in versions, and the prompt files it names.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import { riskPostures, type CapsuleVersion, type PromptListing, type PromptVersion } from '../../contracts/features/identity.ts';
import type { OpParams, OpResult } from '../../contracts/ops.ts';
import { parseCount, type Run } from './command-context.ts';
import { facts, table, when } from './table.ts';
import { oneOf } from './words.ts';

interface AgentOption {
  readonly agent?: string;
}

interface SetOptions extends AgentOption {
  readonly role?: string;
  readonly style?: string;
  readonly constraint?: readonly string[];
  readonly risk?: string;
  readonly prompt?: readonly string[];
  readonly note?: string;
}

export function registerIdentity(program: Command, run: Run): void {
  const identity = program.command('identity').description('the identity of an agent');
  const agentOption = ['--agent <id>', 'the agent; main by default'] as const;
  identity
    .command('show')
    .description('show the identity, or an earlier version of it')
    .argument('[version]')
    .option(...agentOption)
    .action((version: string | undefined, { agent }: AgentOption) =>
      run((context) => context.runOp('identity.get', { ...of(agent), ...numbered('version', version) }, { human: describe })),
    );
  identity
    .command('set')
    .description('change the given fields; an empty text removes a field')
    .option(...agentOption)
    .option('--role <text>', 'what the agent is for')
    .option('--style <text>', 'how the agent speaks')
    .option('--constraint <text...>', 'all of them, in place of those before')
    .option('--risk <posture>', riskPostures.join(', '))
    .option('--prompt <name...>', 'prompt files whose text belongs to it')
    .option('--note <text>', 'why')
    .action((options: SetOptions) => run((context) => context.runOp('identity.set', wishOf(options), { human: describeVersion })));
  identity
    .command('versions')
    .description('list the versions, newest first')
    .option(...agentOption)
    .action(({ agent }: AgentOption) =>
      run((context) => context.runOp('identity.versions', of(agent), { json: ({ versions }) => versions, human: describeVersions })),
    );
  identity
    .command('diff')
    .description('show what changed between two versions')
    .argument('[from]')
    .argument('[to]')
    .option(...agentOption)
    .action((from: string | undefined, to: string | undefined, { agent }: AgentOption) =>
      run((context) =>
        context.runOp('identity.diff', { ...of(agent), ...numbered('from', from), ...numbered('to', to) }, { human: describeDiff }),
      ),
    );
  identity
    .command('revert')
    .description('go back to an earlier version')
    .argument('<version>')
    .option(...agentOption)
    .action((version: string, { agent }: AgentOption) =>
      run((context) =>
        context.runOp('identity.revert', { ...of(agent), version: parseCount(version, 'version') }, { human: describeVersion }),
      ),
    );
}

const listed = {
  json: (result: OpResult<'prompt.list'>) => result.prompts,
  human: (result: OpResult<'prompt.list'>) => describePrompts(result.prompts),
};

export function registerPrompts(program: Command, run: Run): void {
  const prompts = program.command('prompts').description('prompt files, in versions');
  prompts
    .command('list')
    .description('list the prompt files and the built-in prompts')
    .action(() => run((context) => context.runOp('prompt.list', { own: true }, listed)));
  prompts
    .command('show')
    .description('show the newest version, or an earlier one')
    .argument('<name>')
    .argument('[version]')
    .action((name: string, version?: string) =>
      run((context) => context.runOp('prompt.get', { name, ...numbered('version', version) }, { human: ({ text }) => text })),
    );
  prompts
    .command('versions')
    .description('list the versions, newest first')
    .argument('<name>')
    .action((name: string) =>
      run((context) =>
        context.runOp('prompt.versions', { name }, { json: ({ versions }) => versions, human: ({ versions }) => describeMade(versions) }),
      ),
    );
  prompts
    .command('diff')
    .description('show what changed between two versions')
    .argument('<name>')
    .argument('[from]')
    .argument('[to]')
    .action((name: string, from?: string, to?: string) =>
      run((context) => context.runOp('prompt.diff', { name, ...numbered('from', from), ...numbered('to', to) }, { human: describeDiff })),
    );
  prompts
    .command('set')
    .description('save a new version from a file or from standard input')
    .argument('<name>')
    .argument('[file]')
    .action((name: string, file?: string) =>
      run(async (context) => {
        const text = file === undefined ? await context.readStdin() : readText(file);
        return context.runOp('prompt.set', { name, text }, { human: (prompt) => describePrompts([prompt]) });
      }),
    );
  prompts
    .command('refresh')
    .description('check the remote source of one prompt, or of all')
    .argument('[name]')
    .action((name?: string) => run((context) => context.runOp('prompt.refresh', name === undefined ? {} : { name }, listed)));
  prompts
    .command('accept')
    .description('accept the text from the remote source, as it was shown')
    .argument('<name>')
    .argument('<sha256>')
    .action((name: string, sha256: string) =>
      run((context) => context.runOp('prompt.accept', { name, sha256 }, { human: (prompt) => describePrompts([prompt]) })),
    );
}

function of(agent: string | undefined): { agentId?: string } {
  return agent === undefined ? {} : { agentId: agent };
}

function numbered<K extends string>(key: K, text: string | undefined): { [P in K]?: number } {
  return text === undefined ? {} : ({ [key]: parseCount(text, key) } as { [P in K]?: number });
}

function wishOf({ agent, role, style, constraint, risk, prompt, note }: SetOptions): OpParams<'identity.set'> {
  return {
    ...of(agent),
    ...(role === undefined ? {} : { role }),
    ...(style === undefined ? {} : { style }),
    ...(constraint === undefined ? {} : { constraints: constraint.filter((one) => one.trim() !== '') }),
    ...(risk === undefined ? {} : { risk: oneOf(riskPostures, risk, '--risk') }),
    ...(prompt === undefined ? {} : { prompts: prompt.filter((one) => one.trim() !== '') }),
    ...(note === undefined ? {} : { note }),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new AppError('not_found', `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
}

function describe(version: OpResult<'identity.get'>): string {
  return `${describeVersion(version)}\n\n${version.text === '' ? 'Nothing is said of it.' : version.text}`;
}

function describeVersion({ agentId, version, capsule, atMs, by, note }: CapsuleVersion): string {
  return facts([
    ['agent', agentId],
    ['version', version === 0 ? 'none yet' : `${version}, ${when(atMs)} by ${by}`],
    ['risk', capsule.risk],
    ['prompts', capsule.prompts.join(' ') || 'none'],
    ...(note === null ? [] : [['note', note] as const]),
  ]);
}

function describeVersions({ versions }: OpResult<'identity.versions'>): string {
  const rows = versions.map(({ version, atMs, by, reverts, note, capsule }) => [
    String(version),
    when(atMs),
    by,
    capsule.risk,
    [reverts === null ? '' : `version ${reverts} again.`, note ?? capsule.role ?? ''].join(' ').trim(),
  ]);
  return table(['VERSION', 'WHEN', 'BY', 'RISK', ''], rows, 'Nobody has said anything of this agent yet.');
}

function describeDiff({ from, to, lines }: OpResult<'identity.diff'>): string {
  const signs = { same: ' ', added: '+', removed: '-' } as const;
  const shown = lines.map(({ kind, text }) => `${signs[kind]} ${text}`.trimEnd());
  return [`version ${from} to ${to}`, ...(shown.length === 0 ? ['The same.'] : shown)].join('\n');
}

function describeMade(versions: readonly PromptVersion[]): string {
  const rows = versions.map(({ version, by, atMs, url }) => [
    String(version),
    atMs === null ? '-' : when(atMs),
    by ?? 'beside the program',
    url ?? 'here',
  ]);
  return table(['VERSION', 'WHEN', 'BY', 'FROM'], rows, 'There are no versions.');
}

function describePrompts(prompts: readonly PromptListing[]): string {
  const state = ({ incoming, problem, about }: PromptListing): string =>
    incoming === null ? (problem ?? about ?? '') : `waits for a yes: trayclaw prompts accept NAME ${incoming.sha256}`;
  const from = ({ url, version }: PromptListing): string => (version === 0 ? 'built in' : (url ?? 'here'));
  const rows = prompts.map((one) => [one.name, one.version === null ? '-' : String(one.version), from(one), state(one)]);
  return table(['PROMPT', 'VERSION', 'FROM', ''], rows, 'There are no prompts.');
}
