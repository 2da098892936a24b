// `dlq`: turns that ended in failure, tried again or given up.

import type { Command } from 'commander';
import type { DeadLetter } from '../../contracts/features/dead-letters.ts';
import { AppError } from '../../contracts/errors.ts';
import { runTurn } from './ask.ts';
import type { Run } from './command-context.ts';
import { table, when } from './table.ts';
import { cliCaller } from './caller.ts';

export function registerDeadLetters(program: Command, run: Run): void {
  const dlq = program.command('dlq').description('dead letters: failed turns that are kept for a retry');
  dlq
    .command('list')
    .description('list the dead letters')
    .action(() =>
      run((context) => context.runOp('dlq.list', {}, { json: ({ letters }) => letters, human: ({ letters }) => describe(letters) })),
    );
  dlq
    .command('retry')
    .description('retry a failed turn now')
    .argument('<letter>')
    .action((letterId: string) => run((context) => runTurn(context, (claw) => claw.op('dlq.retry', { letterId }, cliCaller))));
  dlq
    .command('clear')
    .description('clear a dead letter, or all that are not being retried')
    .argument('[letter]')
    .option('--all', 'all of them')
    .action((letterId: string | undefined, options: { all?: boolean }) => {
      return run((context) => {
        if ((letterId === undefined) !== (options.all === true))
          throw new AppError('invalid_params', 'Name a dead letter, or say --all.', { data: { hint: 'See: trayclaw dlq list' } });
        return context.runOp('dlq.clear', letterId === undefined ? {} : { letterId }, { human: ({ cleared }) => `Cleared: ${cleared}.` });
      });
    });
}

function describe(letters: readonly DeadLetter[]): string {
  return table(
    ['LETTER', 'FAILED', 'CHANNEL', 'TRIES', 'NEXT', 'WHAT HAPPENED', 'WHY IT IS YOURS'],
    letters.map((one) => [
      one.letterId,
      when(one.lastAtMs),
      one.channel,
      String(one.attempt),
      one.state === 'waiting' ? when(one.retryAtMs) : one.state === 'retrying' ? 'now' : 'yours',
      one.reason.message,
      one.left,
    ]),
    'No dead letters.',
  );
}
