// The command line: every command is the operations table seen from a terminal. Owns parsing, printing and exit codes; decides nothing.

import type { Command, OutputConfiguration } from 'commander';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { CommandContext, type Run } from './command-context.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { groupForHelp } from './help-groups.ts';
import { resolveHome } from '../../store/config/config.ts';
import { Output } from './output.ts';
import type { CliIo, CliParts } from './ports.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

export type { CliIo, CliParts, DesktopRun, FoundInstance, HostedRuntime, OwnDoors, ServiceManager, ServiceState } from './ports.ts';

interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/**
 * Runs one command line (without the program's own name) and resolves to its exit code: 0 done, 1 failed, 2 usage, 3 waits for
 * approval or denied, 4 over budget, 5 panic engaged, 130 interrupted. Never rejects.
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

async function parseAndRun(argv: readonly string[], shell: Shell): Promise<number> {
  const { io, parts, early } = shell;
  const { CommanderError } = await import('commander');
  let usageText = '';
  let exitCode: number = exitCodes.done;
  const run: Run = async (body) => {
    const options = program.opts<GlobalOptions>();
    const output = new Output(io, { isJson: options.json === true, isQuiet: options.quiet === true });
    exitCode = await body(new CommandContext({ io, parts, output, home: resolveHome(options.home, io) }));
  };
  const program = await createProgram(parts.version, run, {
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => (usageText += text),
  });

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (cause) {
    if (!(cause instanceof CommanderError)) throw cause;
    if (cause.exitCode === 0) return exitCodes.done;
    // Its own text repeats the surplus words, and one of them may be a secret that never belonged on a command line.
    const text = cause.code === 'commander.excessArguments' ? 'error: there are more arguments than this command takes' : usageText;
    reportUsage(early, io, text);
    return exitCodes.usage;
  }
}

/** The tree of commands; `run` gets what each of them does. */
export async function createProgram(version: string, run: Run, output: OutputConfiguration = {}): Promise<Command> {
  const { Command: CommandLine, Help } = await import('commander');
  const program = new CommandLine('trayclaw');
  program
    .description('A local-first agent that asks before anything risky.')
    .option('--home <folder>', 'the data folder')
    .option('--json', 'print one JSON document')
    .option('--quiet', 'no progress')
    .version(version, '-V, --version')
    // What follows is inherited by the commands below, so it comes before them.
    .exitOverride()
    .configureOutput({ ...output, getOutHasColors: () => false, getErrHasColors: () => false })
    .showHelpAfterError(false);
  for (const register of await commandFamilies()) register(program, run);
  groupForHelp(program, new Help());
  return program;
}

async function commandFamilies(): Promise<((program: Command, run: Run) => void)[]> {
  const families = await Promise.all([
    import('./ask.ts').then((part) => [part.registerAsk]),
    import('./chat.ts').then((part) => [part.registerChat]),
    import('./folders.ts').then((part) => [part.registerFolders]),
    import('./approvals.ts').then((part) => [part.registerApprovals, part.registerGrants, part.registerOutcomes]),
    import('./sessions.ts').then((part) => [part.registerSessions, part.registerArtifacts]),
    import('./policy.ts').then((part) => [part.registerPolicy]),
    import('./safety.ts').then((part) => [part.registerSafety]),
    import('./budget.ts').then((part) => [part.registerBudget]),
    import('./agents.ts').then((part) => [part.registerAgents, part.registerHelpers]),
    import('./sandbox.ts').then((part) => [part.registerSandbox]),
    import('./rules.ts').then((part) => [part.registerRules]),
    import('./insight.ts').then((part) => [part.registerInsight]),
    import('./models.ts').then((part) => [part.registerModels]),
    import('./setup.ts').then((part) => [part.registerSetup]),
    import('./secrets.ts').then((part) => [part.registerSecrets]),
    import('./backup.ts').then((part) => [part.registerBackup]),
    import('./serve.ts').then((part) => [part.registerServe]),
    import('./service.ts').then((part) => [part.registerService]),
    import('./undo.ts').then((part) => [part.registerUndo]),
    import('./activity.ts').then((part) => [part.registerActivity]),
    import('./dlq.ts').then((part) => [part.registerDeadLetters]),
    import('./recover.ts').then((part) => [part.registerRecovery]),
    import('./outbox.ts').then((part) => [part.registerOutbox, part.registerChats]),
    import('./telegram.ts').then((part) => [part.registerTelegram]),
    import('./schedules.ts').then((part) => [part.registerSchedules, part.registerHeartbeat, part.registerTasks]),
    import('./memory.ts').then((part) => [part.registerMemory]),
    import('./knowledge.ts').then((part) => [part.registerKnowledge]),
    import('./signals.ts').then((part) => [part.registerSignals]),
    import('./skills.ts').then((part) => [part.registerSkills]),
    import('./identity.ts').then((part) => [part.registerIdentity, part.registerPrompts]),
  ]);
  return families.flat();
}

function reportUsage(output: Output, io: CliIo, usageText: string): void {
  const message = usageText.trim().replace(/^error: /, '');
  if (output.isJson)
    output.failure(new AppError('invalid_params', message === '' ? 'Unknown usage.' : message, { data: { hint: 'See: trayclaw --help' } }));
  else io.stderr.write(safeForTerminal(usageText.endsWith('\n') ? usageText : usageText + '\n'));
}
