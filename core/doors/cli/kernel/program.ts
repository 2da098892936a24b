// Builds the command tree for commander. Only the named command gets its arguments and options, because they need the schemas. Help for the
// other commands needs only texts.

import type * as Commander from 'commander';
import { isPlainObject } from '../../../base/json.ts';
import type { CommandContext, Run } from '../command-context.ts';
import { ownEntries } from '../own-commands.ts';
import { opEntries, takenBy, type Entry, type Given } from './entries.ts';
import { aboutFamily, groupForHelp } from './families.ts';
import { argumentsOf, optionsOf, shapeOf, type Fields } from './options.ts';
import { exampleOf, inOwnWords, refuseEmptyPaths, usageOf } from './own-words.ts';

export interface ProgramOptions {
  readonly version: string;
  readonly run: Run;
  readonly output?: Commander.OutputConfiguration;
  /** The typed words. If omitted, every command gets its options. */
  readonly words?: readonly string[];
}

export async function buildProgram({ version, run, output = {}, words }: ProgramOptions): Promise<Commander.Command> {
  const commander = await import('commander');
  const program = new commander.Command('trayclaw');
  program
    .description('A local-first agent that asks before anything risky. Begin with trayclaw setup, then trayclaw chat.')
    .option('--home <folder>', 'the data folder')
    .option('--json', 'print one JSON document')
    .option('--fields <names>', 'print these fields of the result only, such as sessionId,title: with tabs between them, or as JSON')
    .option('--quiet', 'no progress')
    .version(version, '-V, --version')
    // Subcommands inherit these settings, so they come first.
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ ...output, getOutHasColors: () => false, getErrHasColors: () => false })
    .showHelpAfterError('See: trayclaw --help');
  const entries = allEntries();
  const named = entries.filter((entry) => isNamed(entry, words));
  const fieldsOf = named.some(({ source }) => 'op' in source) ? (await import('./fields.ts')).fieldsOf : null;
  // A line that begins with a command needs no other one.
  const family = entries.filter(({ path }) => path[0] === words?.[0]);
  for (const entry of family.length > 0 ? family : entries) {
    const command = commandAt(program, entry);
    command.description(entry.about);
    if (entry.form.alias !== undefined) command.alias(entry.form.alias);
    if (!named.includes(entry)) continue;
    addDetails(commander, command, [entry, 'op' in entry.source ? (fieldsOf?.(entry.source.op) ?? {}) : {}]);
    command.action((...all: unknown[]) => run((context) => perform(context, { entry, entries, given: givenOf(entry, all) })));
  }
  groupForHelp(program, new commander.Help());
  return program;
}

/** An alias counts as the name. */
function isNamed({ path, form }: Entry, words: readonly string[] | undefined): boolean {
  if (words === undefined) return true;
  return path.every((word, at) => words.includes(word) || (at > 0 && form.alias !== undefined && words.includes(form.alias)));
}

function commandAt(program: Commander.Command, { path }: Entry): Commander.Command {
  return path.reduce((parent, name, at) => {
    const known = parent.commands.find((command) => command.name() === name);
    if (known !== undefined) return known;
    const words = path.slice(0, at + 1).join(' ');
    return parent.command(name).description(aboutFamily(words)).showHelpAfterError(`See: trayclaw ${words} --help`);
  }, program);
}

function addDetails({ Argument, Option }: typeof Commander, command: Commander.Command, [entry, fields]: readonly [Entry, Fields]): void {
  for (const spec of argumentsOf(entry, fields)) {
    const { about, field, fallback } = spec;
    const argument = new Argument(shapeOf(spec), about);
    if (field.choices.length > 0) argument.argChoices = [...field.choices];
    if (fallback !== undefined) argument.default(fallback);
    command.addArgument(argument);
  }
  for (const { flags, about, field, fallback, repeats } of optionsOf(entry, fields)) {
    const option = new Option(flags, about);
    if (field.choices.length > 0) option.argChoices = [...field.choices];
    if (fallback !== undefined) option.default(fallback);
    if (repeats) option.argParser((one: string, before: readonly string[] | undefined) => [...(before ?? []), one]);
    command.addOption(option);
  }
  command.showHelpAfterError(usageOf(entry));
  const { example } = entry.form;
  if (example !== undefined) command.addHelpText('after', `\nExample: ${exampleOf(entry)}`);
}

/** commander passes the arguments in order, then the options, then itself. */
function givenOf({ form }: Entry, all: readonly unknown[]): Given {
  const taken = takenBy(form);
  const options = all[taken.length];
  return { ...Object.fromEntries(taken.map(({ name }, at) => [name, all[at]])), ...(isPlainObject(options) ? options : {}) };
}

interface Asked {
  readonly entry: Entry;
  readonly entries: readonly Entry[];
  readonly given: Given;
}

async function perform(context: CommandContext, { entry, entries, given }: Asked): Promise<number> {
  refuseEmptyPaths(entry, given);
  try {
    if ('load' in entry.source) return await (await entry.source.load())(context, given, entries);
    const { runOperation } = await import('./run-op.ts');
    return await runOperation(context, entry, given);
  } catch (cause) {
    throw inOwnWords(cause, entry, entries);
  }
}

/** The commands of the operations table, and the handwritten ones. */
export function allEntries(): readonly Entry[] {
  return [...opEntries(), ...ownEntries()];
}
