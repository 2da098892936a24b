// `backup`: copies of the whole log. Restoring works on the files themselves, so nothing may run meanwhile.

import { resolve } from 'node:path';
import type { Command } from 'commander';
import { AppError } from '../../contracts/errors.ts';
import type { CommandContext, Run } from './command-context.ts';
import { exitCodes } from './exit-code.ts';
import { size, table, when } from './table.ts';

export function registerBackup(program: Command, run: Run): void {
  const backup = program.command('backup').description('copies of everything recorded');
  backup
    .command('create')
    .description('make a backup now')
    .action(() =>
      run((context) =>
        context.runOp('backup.create', {}, { human: (result) => `${result.file} (${size(result.sizeBytes)}, ${result.events} events)` }),
      ),
    );
  backup
    .command('list')
    .description('list the backups')
    .action(() =>
      run((context) =>
        context.runOp(
          'backup.list',
          {},
          {
            json: (result) => result.backups,
            human: ({ backups }) =>
              table(
                ['MADE', 'SIZE', 'FILE'],
                backups.map((one) => [when(one.createdAtMs), size(one.sizeBytes), one.file]),
                'No backups.',
              ),
          },
        ),
      ),
    );
  backup
    .command('verify')
    .description('check a backup')
    .argument('<file>')
    .action((file: string) =>
      run((context) =>
        context.runOp(
          'backup.verify',
          { file: resolve(context.io.cwd, file) },
          {
            human: (result) => `${result.ok ? 'Intact' : 'Damaged'}: ${result.detail} (${result.events} events)`,
            exitCode: ({ ok }) => (ok ? exitCodes.done : exitCodes.failed),
          },
        ),
      ),
    );
  backup
    .command('restore')
    .description('put a backup in place; nothing may run meanwhile')
    .argument('<file>')
    .action((file: string) => run((context) => restore(context, resolve(context.io.cwd, file))));
}

async function restore(context: CommandContext, file: string): Promise<number> {
  const found = await context.parts.findInstance(context.home);
  if (found !== null) {
    await found.claw.close();
    throw new AppError('store_locked', `TrayClaw is running on this data folder (process ${found.record.pid}).`, {
      data: { hint: 'Stop it first, then restore.' },
    });
  }
  const restored = await context.parts.restoreBackup({ home: context.home, file });
  context.output.result(restored ?? { file }, () => `Restored from ${file}.`);
  return exitCodes.done;
}
