// `backup restore`: works directly on the files, so TrayClaw must not be running.

import { existsSync } from 'node:fs';
import { givenPath } from '../../base/given-path.ts';
import { AppError } from '../../contracts/errors.ts';
import type { CommandContext } from './command-context.ts';
import { exitCodes } from './exit-code.ts';

export async function restore(context: CommandContext, given: { readonly file: string }): Promise<number> {
  const path = givenPath(context.io, given.file);
  // Otherwise the name of a backup in the data folder.
  const file = existsSync(path) ? path : given.file;
  const found = await context.parts.findInstance(context.home);
  if (found !== null) {
    await found.claw.close();
    throw new AppError('store_locked', `TrayClaw is running on this data folder (process ${found.record.pid}).`, {
      hint: 'Stop it first, then restore.',
    });
  }
  const restored = await context.parts.restoreBackup({ home: context.home, file });
  const kept = restored.kept === null ? '' : ` What it replaced is kept as ${restored.kept}.`;
  context.output.result(restored, () => `Restored from ${restored.from}.${kept}`);
  return exitCodes.done;
}
