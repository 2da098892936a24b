// The command line: every command is an operation of the table, called from a terminal. Responsible for parsing, printing and exit codes;
// makes no decision.

import type { Command } from 'commander';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { CommandContext, type Run } from './command-context.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import type { Entry } from './kernel/entries.ts';
import { allEntries, buildProgram } from './kernel/program.ts';
import { resolveHome } from '../../store/home/home.ts';
import { Output } from './output.ts';
import type { CliIo, CliParts } from './ports.ts';

export type {
  CliIo,
  CliParts,
  DesktopRun,
  FoundInstance,
  HostedRuntime,
  McpStreams,
  OwnDoors,
  ServiceManager,
  ServiceState,
} from './ports.ts';

interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
  readonly fields?: string;
  readonly quiet?: boolean;
}

/**
 * Runs one command line (without the program's own name) and resolves to its exit code: 0 done, 1 failed, 2 usage, 3 waits for
 * approval or denied, 4 over budget, 5 panic engaged, 124 timed out, 130 interrupted. Never rejects.
 */
export async function runCli(argv: readonly string[], io: CliIo, parts: CliParts): Promise<number> {
  const early = new Output(io, { isJson: argv.includes('--json'), isQuiet: argv.includes('--quiet') });
  try {
    return await parseAndRun(argv, { io, parts, early });
  } catch (cause) {
    const error = toAppError(cause);
    early.failure(error);
    return exitCodeOfError(error.code);
  }
}

interface Shell {
  readonly io: CliIo;
  readonly parts: CliParts;
  readonly early: Output;
}

async function parseAndRun(given: readonly string[], shell: Shell): Promise<number> {
  const { io, parts, early } = shell;
  const argv = helpInOrder(given);
  const { CommanderError } = await import('commander');
  let usageText = '';
  let exitCode: number = exitCodes.done;
  const run: Run = async (body) => {
    const options = program.opts<GlobalOptions>();
    // An unset variable must not lead to the usual folder.
    if (options.home === '') throw new AppError('invalid_params', '--home must not be empty.', { hint: 'Name a folder, or leave it out.' });
    const fields = options.fields === undefined ? {} : { fields: options.fields.split(',').map((name) => name.trim()) };
    const output = new Output(io, { isJson: options.json === true, isQuiet: options.quiet === true, ...fields });
    exitCode = await body(new CommandContext({ io, parts, output, home: resolveHome(options.home, io) }));
  };
  const program = await buildProgram({
    version: parts.version,
    run,
    words: argv,
    output: { writeOut: (text) => io.stdout.write(text), writeErr: (text) => (usageText += text) },
  });

  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    if (cause.exitCode === 0) return exitCodes.done;
    // commander's text repeats the surplus arguments, one of which may be a secret that never belonged on a command line.
    const isSurplus = cause.code === 'commander.excessArguments';
    if (cause.code === 'commander.help') needsCommand(early, io, usageText);
    else reportUsage(early, isSurplus ? usageText.replace(/^.*/, 'there are more arguments than this command takes') : usageText);
    return exitCodes.usage;
  }
}

/** `help sessions list` as `sessions list --help`: commander's own help takes one word. An unknown word is left for commander to refuse. */
function helpInOrder(argv: readonly string[]): readonly string[] {
  const words = argv.slice(1).filter((word) => !word.startsWith('-'));
  if (argv[0] !== 'help' || words.length === 0) return argv;
  const fits = ({ path, form }: Entry, at: number): boolean => path[at] === words[at] || (at > 0 && form.alias === words[at]);
  let named = allEntries();
  for (const [at] of words.entries()) {
    const deeper = named.filter((entry) => fits(entry, at));
    const isCommand = named.some(({ path }) => path.length === at);
    if (deeper.length === 0) return isCommand ? [...words.slice(0, at), '--help'] : words.slice(0, at + 1);
    named = deeper;
  }
  return [...words, '--help'];
}

/** The whole tree of commands. `run` receives the body of the command that is called. */
export function createProgram(version: string, run: Run): Promise<Command> {
  return buildProgram({ version, run });
}

/** A command family without a subcommand shows its help. */
function needsCommand(output: Output, io: CliIo, help: string): void {
  if (!output.isJson) {
    io.stderr.write(help);
    return;
  }
  const family = /^Usage: ([^[]+) /.exec(help)?.[1] ?? 'trayclaw';
  output.failure(new AppError('invalid_params', `${family} needs a command.`, { hint: `See: ${family} --help` }));
}

/** Prints commander's text as an error of this program: the first line is the problem, the rest is the next step. */
function reportUsage(output: Output, usageText: string): void {
  const [said = '', ...next] = usageText
    .trim()
    .replace(/^error: /, '')
    .split('\n');
  const message = said === '' ? 'Unknown usage.' : `${said[0]?.toUpperCase() ?? ''}${said.slice(1)}`;
  output.failure(new AppError('invalid_params', message, { hint: next.length > 0 ? next.join('\n') : 'See: trayclaw --help' }));
}
