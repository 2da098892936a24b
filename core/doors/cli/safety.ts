// `policy`, `safety` and `panic`: what would happen, what is safe to show, and the stop.

import type { Command } from 'commander';
import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import type { PanicStatus } from '../../contracts/policy.ts';
import { parseJsonArgument, type CommandContext, type Run } from './command-context.ts';
import { facts, when } from './table.ts';

const explainRequestSchema = z.strictObject({ tool: z.string().min(1), args: z.unknown(), cwd: z.string().optional() });

export function registerSafety(program: Command, run: Run): void {
  program
    .command('policy')
    .description('what the gate would say')
    .command('explain')
    .argument('<request>', '{tool, args, cwd?} as JSON; runs nothing')
    .action((request: string) => run((context) => explainPolicy(context, request)));

  const safety = program.command('safety').description('checks of addresses and text');
  safety
    .command('url')
    .argument('<url>')
    .action((url: string) =>
      run((context) =>
        context.runOp(
          'safety.url',
          { url },
          { human: (result, paint) => `${paint(result.decision === 'allow' ? 'green' : 'red', result.decision)}: ${result.reason}` },
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
    .option('--status', 'only say how it stands')
    .action((options: PanicOptions) => run((context) => panic(context, options)));
}

function explainPolicy(context: CommandContext, text: string): Promise<number> {
  const parsed = explainRequestSchema.safeParse(parseJsonArgument(text, 'The request'));
  if (!parsed.success)
    throw new AppError('invalid_params', `The request does not fit {tool, args, cwd?}: ${z.prettifyError(parsed.error)}`);
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
          ['Class', result.class],
          ...result.facts.paths.map((path) => [path.access === 'write' ? 'Writes' : 'Reads', path.real] as const),
          ...(result.facts.command === null ? [] : [['Command', result.facts.command.line] as const]),
          ...result.facts.hosts.map((host) => ['Host', host] as const),
        ]),
    },
  );
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
