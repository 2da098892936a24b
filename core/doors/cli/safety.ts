// `safety` and `panic`: what is safe to open and to show, and the stop.

import type { Command } from 'commander';
import type { PanicStatus } from '../../contracts/policy.ts';
import type { CommandContext, Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { when } from './table.ts';

export function registerSafety(program: Command, run: Run): void {
  const safety = program.command('safety').description('checks of addresses and text');
  safety
    .command('url')
    .description('say whether an address may be opened')
    .argument('<url>')
    .action((url: string) =>
      run((context) =>
        context.runOp(
          'safety.url',
          { url },
          {
            human: (result, paint) => `${paint(result.decision === 'allow' ? 'green' : 'red', result.decision)}: ${result.reason}`,
            exitCode: ({ decision }) => (decision === 'allow' ? exitCodes.done : exitCodes.waiting),
          },
        ),
      ),
    );
  safety
    .command('redact')
    .description('take the secrets out of the text on standard input')
    .action(() =>
      run(async (context) =>
        context.runOp('safety.redact', { text: await context.readStdin() }, { human: ({ text }) => context.output.forStdout(text) }),
      ),
    );

  program
    .command('panic')
    .description('stop everything at once')
    .option('--reason <text>', 'why, for the record')
    .option('--release', 'let things run again')
    .option('--status', 'only show whether it is engaged')
    .action((options: PanicOptions) => run((context) => panic(context, options)));
}

interface PanicOptions {
  readonly reason?: string;
  readonly release?: boolean;
  readonly status?: boolean;
}

function panic(context: CommandContext, options: PanicOptions): Promise<number> {
  const view = { human: (status: PanicStatus) => describePanic(status) };
  if (options.status === true) return context.runOp('panic.status', {}, view);
  if (options.release === true) return context.runOp('panic.release', {}, view);
  return context.runOp('panic.engage', options.reason === undefined ? {} : { reason: options.reason }, view);
}

function describePanic(status: PanicStatus): string {
  if (!status.engaged) return 'Not stopped; things run.';
  const ended = `${status.killed} ${status.killed === 1 ? 'process' : 'processes'} ended${status.tookMs === null ? '' : ` in ${Math.round(status.tookMs)} ms`}`;
  return `Everything is stopped since ${when(status.sinceMs)} UTC; ${ended}. Nothing runs until: trayclaw panic --release`;
}
