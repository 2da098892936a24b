// Writes a result to the file that a person named, or explains why it cannot be written.

import { rmSync, writeFileSync } from 'node:fs';
import { errnoOf } from '../../base/errno.ts';
import { AppError } from '../../contracts/errors.ts';
import { whyFileFailed } from '../../contracts/unreadable-file.ts';

/** Fails with `conflict` if the file exists, otherwise with `invalid_params`. Removes the file that a full disk left incomplete. */
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

/** Overwrites the file. `instead` says where to find the result if the file cannot be written. Fails with `invalid_params`. */
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
