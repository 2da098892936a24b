// Writes a result into the file that a person named for it, or says why it cannot be written there.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import { whyFileFailed } from '../../contracts/unreadable-file.ts';

/** For a result that costs time or money: before the work begins. Fails with `not_found`. */
export function refuseMissingFolder(file: string): void {
  if (!existsSync(dirname(file))) throw noPath('folder', dirname(file));
}

/** Fails with `conflict` where the file is already there, else with `invalid_params`; what was begun is removed. */
export function writeNewResult(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST')
      throw new AppError('conflict', `${file} is already there.`, { cause, data: { hint: 'Name a file that is not there yet.' } });
    if (errnoOf(cause) === 'ENOSPC') rmSync(file, { force: true });
    throw cannotWrite(file, cause);
  }
}

/** In place of what the file held. `instead` says where the result is to be had when it cannot be written. Fails with `invalid_params`. */
export function writeResult(file: string, content: string, instead: string): void {
  try {
    writeFileSync(file, content);
  } catch (cause) {
    throw cannotWrite(file, cause, { hint: instead });
  }
}

function cannotWrite(file: string, cause: unknown, data: { hint?: string } = {}): AppError {
  return new AppError('invalid_params', `${file} cannot be written: ${whyFileFailed(cause)}.`, { cause, data });
}
