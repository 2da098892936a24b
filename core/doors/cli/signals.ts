// Commands on signals: what came in, and one sent by hand or by a script.

import type { Command } from 'commander';
import type { OpParams } from '../../contracts/ops.ts';
import { attentionSchema, signalSources } from '../../contracts/features/signals.ts';
import { parseCount, parseJsonArgument, type CommandContext, type Run } from './command-context.ts';
import { table, when } from './table.ts';
import { oneOf } from './words.ts';

interface SendOptions {
  readonly attention?: string;
  readonly session?: string;
  readonly data?: string;
  readonly key?: string;
}

export function registerSignals(program: Command, run: Run): void {
  const signals = program.command('signals').description('signals from webhooks, files and other programs');
  signals
    .command('list')
    .description('list the signals, newest first')
    .option('--source <name>', signalSources.join(', '))
    .option('--limit <n>', 'how many at most')
    .action((options: { source?: string; limit?: string }) => run((context) => list(context, options)));
  signals
    .command('send')
    .description('send a signal from this computer')
    .argument('<name>')
    .argument('<text...>')
    .option('--attention <how>', attentionSchema.options.join(', '))
    .option('--session <id>', 'the session it belongs to')
    .option('--data <json>', 'JSON that goes with the signal')
    .option('--key <text>', 'a signal with the same key counts once')
    .action((name: string, text: string[], options: SendOptions) =>
      run((context) => send(context, name, { ...options, text: text.join(' ') })),
    );
}

function list(context: CommandContext, { source, limit }: { source?: string; limit?: string }): Promise<number> {
  const params: OpParams<'signal.list'> = {
    ...(source === undefined ? {} : { source: oneOf(signalSources, source, '--source') }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit') }),
  };
  return context.runOp('signal.list', params, {
    json: ({ signals }) => signals,
    human: ({ signals }) =>
      table(
        ['WHEN', 'SOURCE', 'NAME', 'ATTENTION', 'WHAT WAS DONE', 'TEXT'],
        signals.map((one) => [when(one.atMs), one.source, one.name, one.attention, one.disposition, one.reason ?? one.text]),
        'Nothing came in.',
      ),
  });
}

function send(context: CommandContext, name: string, options: SendOptions & { readonly text: string }): Promise<number> {
  const { attention, session, data, key, text } = options;
  const params: OpParams<'signal.send'> = {
    name,
    text,
    ...(attention === undefined ? {} : { attention: oneOf(attentionSchema.options, attention, '--attention') }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(data === undefined ? {} : { data: parseJsonArgument(data, '--data') }),
    ...(key === undefined ? {} : { dedupeKey: key }),
  };
  return context.runOp('signal.send', params, {
    human: ({ repeated, disposition, turnId }) =>
      repeated ? 'It was there before.' : `${disposition}${turnId === undefined ? '' : `: turn ${turnId}`}`,
  });
}
