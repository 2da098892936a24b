// docs/reference/commands.md: the tree of commands, read from the command line itself.

import type { Argument, Command, Option } from 'commander';
import { exitCodes } from '../../core/doors/cli/exit-code.ts';
import { createProgram } from '../../core/doors/cli/cli.ts';
import { exampleOf } from '../../core/doors/cli/kernel/own-words.ts';
import { allEntries } from '../../core/doors/cli/kernel/program.ts';
import { code, page, sentence, table } from './markdown.ts';

const exitWords: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed; standard error says why and what to do',
  usage: 'wrong usage',
  waiting: 'waits for an approval, or was denied',
  overBudget: 'over budget',
  panic: 'the panic stop is engaged',
  timedOut: 'stopped by `--timeout`',
  interrupted: 'interrupted',
};

export async function commandPage(): Promise<string> {
  const program = await createProgram('0', () => Promise.resolve());
  const shown = visibleCommands(program);
  const groups = [...new Set(shown.map((command) => command.helpGroup()))];
  const body = [
    'Every command takes these options. A command joins the running instance when there is one; otherwise it runs TrayClaw itself for as',
    'long as it takes.',
    '',
    ...table(['option', 'does'], optionRows(program)),
    '## Exit codes',
    '',
    ...table(
      ['code', 'means'],
      Object.entries(exitWords).map(([name, words]) => [String(exitCodes[name as keyof typeof exitCodes]), words]),
    ),
    ...groups.flatMap((group) => [
      `## ${group.replace(/:$/, '')}`,
      '',
      ...shown.filter((command) => command.helpGroup() === group).flatMap((command) => entries(command, ['trayclaw'])),
    ]),
  ];
  return page({ title: 'Commands', source: 'the command tree (`core/doors/cli`)', body });
}

function visibleCommands(command: Command): Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help')
    .sort((one, other) => rank(command, one) - rank(command, other));
}

/** The top level is listed in the order of its help. */
function rank(parent: Command, command: Command): number {
  const help = Object.assign(parent.createHelp(), parent.configureHelp());
  return help.visibleCommands(parent).indexOf(command);
}

/** A command group is listed through its subcommands. */
function entries(command: Command, path: readonly string[]): string[] {
  const own = [...path, command.name()];
  const subs = visibleCommands(command);
  return subs.length === 0 ? entry(command, own) : subs.flatMap((sub) => entries(sub, own));
}

function entry(command: Command, path: readonly string[]): string[] {
  const usage = [...path, ...command.registeredArguments.map(argumentName)].join(' ');
  const aliases = command.aliases().map((alias) => code([...path.slice(0, -1), alias].join(' ')));
  const told = command.registeredArguments.filter(({ description, argChoices = [] }) => description !== '' || argChoices.length > 0);
  const rows = [...told.map(argumentRow), ...optionRows(command)];
  return [
    `### ${code(usage)}`,
    '',
    sentence(command.description()) + (aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`),
    '',
    ...(rows.length === 0 ? [] : table(['argument or option', 'does'], rows)),
    ...exampleLines(path),
  ];
}

/** The example of every command, as a person types it. */
export function commandExamples(): { readonly path: string; readonly line: string | null }[] {
  return allEntries().map((one) => ({ path: one.path.join(' '), line: one.form.example === undefined ? null : exampleOf(one) }));
}

function exampleLines(path: readonly string[]): string[] {
  const line = commandExamples().find((one) => one.path === path.slice(1).join(' '))?.line ?? null;
  return line === null ? [] : [`Example: ${code(line)}`, ''];
}

function argumentName(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function argumentRow(argument: Argument): string[] {
  return [code(argumentName(argument)), (argument.description + detailsOf(argument)).trim()];
}

function optionRows(command: Command): string[][] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => option.long !== '--help')
    .map((option) => [code(option.flags), option.description + detailsOf(option)]);
}

function detailsOf(
  option: Pick<Option, 'defaultValue' | 'defaultValueDescription'> & { argChoices?: string[]; mandatory?: boolean },
): string {
  const details = [
    ...(option.argChoices === undefined ? [] : [`one of ${option.argChoices.map(code).join(', ')}`]),
    ...(option.defaultValue === undefined || option.defaultValue === false || isEmpty(option.defaultValue)
      ? []
      : [`default ${code(option.defaultValueDescription ?? String(option.defaultValue))}`]),
    ...(option.mandatory === true ? ['needed'] : []),
  ];
  return details.length === 0 ? '' : ` (${details.join('; ')})`;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
