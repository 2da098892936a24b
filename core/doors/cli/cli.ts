// The command line: every command is the operations table seen from a terminal. Owns parsing, printing and exit codes; decides nothing.

import type { Command } from 'commander';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { CommandContext, type Run } from './command-context.ts';
import { exitCodeOfError, exitCodes } from './exit-code.ts';
import { resolveHome } from '../../store/config/config.ts';
import { Output } from './output.ts';
import type { CliIo, CliParts } from './ports.ts';
import { safeForTerminal } from '../../base/visible-text.ts';

export type { CliIo, CliParts, DesktopRun, FoundInstance, OwnDoors } from './ports.ts';

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
  const { Command: CommandLine, CommanderError } = await import('commander');
  const program = new CommandLine('trayclaw');
  let usageText = '';
  program
    .description('A local-first agent that asks before anything risky.')
    .option('--home <folder>', 'the data folder')
    .option('--json', 'print one JSON document')
    .option('--quiet', 'no progress')
    .version(parts.version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => (usageText += text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .showHelpAfterError(false);

  let exitCode: number = exitCodes.done;
  const run: Run = async (body) => {
    const options = program.opts<GlobalOptions>();
    const output = new Output(io, { isJson: options.json === true, isQuiet: options.quiet === true });
    exitCode = await body(new CommandContext({ io, parts, output, home: resolveHome(options.home, io) }));
  };
  for (const register of await commandFamilies()) register(program, run);

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

async function commandFamilies(): Promise<((program: Command, run: Run) => void)[]> {
  const [ask, chat, approvals, sessions, policy, safety, budget, insight, secrets, backup, serve, undo, sandbox] = await Promise.all([
    import('./ask.ts'),
    import('./chat.ts'),
    import('./approvals.ts'),
    import('./sessions.ts'),
    import('./policy.ts'),
    import('./safety.ts'),
    import('./budget.ts'),
    import('./insight.ts'),
    import('./secrets.ts'),
    import('./backup.ts'),
    import('./serve.ts'),
    import('./undo.ts'),
    import('./sandbox.ts'),
  ]);
  return [
    ask.registerAsk,
    chat.registerChat,
    approvals.registerApprovals,
    approvals.registerGrants,
    approvals.registerOutcomes,
    sessions.registerSessions,
    sessions.registerArtifacts,
    policy.registerPolicy,
    safety.registerSafety,
    budget.registerBudget,
    sandbox.registerSandbox,
    insight.registerInsight,
    secrets.registerSecrets,
    backup.registerBackup,
    serve.registerServe,
    undo.registerUndo,
  ];
}

function reportUsage(output: Output, io: CliIo, usageText: string): void {
  const message = usageText.trim().replace(/^error: /, '');
  if (output.isJson)
    output.failure(new AppError('invalid_params', message === '' ? 'Unknown usage.' : message, { data: { hint: 'See: trayclaw --help' } }));
  else io.stderr.write(safeForTerminal(usageText.endsWith('\n') ? usageText : usageText + '\n'));
}
