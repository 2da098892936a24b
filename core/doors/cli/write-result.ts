// Writes a result to the file that a person named, or explains why it cannot be written.

import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import { whyFileFailed } from '../../contracts/unreadable-file.ts';

/** A result may quote private data. A file that is overwritten keeps the permissions that its owner gave it. */
const OWNER_ONLY = 0o600;

/** For a result that costs time or money: checks its folder before the work begins. Fails with `not_found`. */
export function refuseMissingFolder(file: string): void {
  if (!existsSync(dirname(file))) throw noPath('folder', dirname(file));
}

/** Fails with `conflict` if the file exists, otherwise with `invalid_params`. Removes a file that could not be written completely. */
export function writeNewResult(file: string, content: string | Uint8Array): void {
  const handle = openNew(file);
  try {
    writeFileSync(handle, content);
  } catch (cause) {
    rmSync(file, { force: true });
    throw cannotWrite(file, cause);
  } finally {
    closeSync(handle);
  }
}

function openNew(file: string): number {
  try {
    return openSync(file, 'wx', OWNER_ONLY);
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw cannotWrite(file, cause);
    throw new AppError('conflict', `${file} is already there.`, { cause, hint: 'Name a file that is not there yet.' });
  }
}

/** Overwrites the file. `instead` says where to find the result if the file cannot be written. Fails with `invalid_params`. */
export function writeResult(file: string, content: string, instead: string): void {
  try {
    writeFileSync(file, content, { mode: OWNER_ONLY });
  } catch (cause) {
    throw cannotWrite(file, cause, instead);
  }
}

function cannotWrite(file: string, cause: unknown, hint?: string): AppError {
  return new AppError('invalid_params', `${file} cannot be written: ${whyFileFailed(cause)}.`, { cause, hint });
}
