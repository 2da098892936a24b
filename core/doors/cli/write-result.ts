// Writes a result to the file that a person named, or explains why it cannot be written.

import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';
import { renameOver } from '../../base/rename-over.ts';
import { AppError, noPath, whyFileFailed } from '../../contracts/errors.ts';

/** A result may quote private data. A file that is overwritten keeps the permissions that its owner gave it. */
const OWNER_ONLY = 0o600;
/** Names have at most 255 bytes, and the name of the temporary file is longer than that of the result. */
const NAME_LENGTH_MAX = 40;

/** For a result that costs time or money: checks its folder before the work begins. Fails with `not_found`. */
export function refuseMissingFolder(file: string): void {
  if (!existsSync(dirname(file))) throw noPath('folder', dirname(file));
}

/** Fails with `conflict` if the file exists, `store_full` or `invalid_params`. Leaves either the whole file or none under its name. */
export function writeNewResult(file: string, content: string | Uint8Array): void {
  if (existsSync(file)) throw alreadyThere(file);
  const part = join(dirname(file), `.${basename(file).slice(0, NAME_LENGTH_MAX)}.${process.pid}.part`);
  try {
    writeFileSync(part, content, { mode: OWNER_ONLY, flush: true });
    placeNew(part, file);
  } catch (cause) {
    throw errnoOf(cause) === 'EEXIST' ? alreadyThere(file, cause) : cannotWrite(file, cause);
  } finally {
    if (existsSync(part)) rmSync(part);
  }
}

/** Fails with EEXIST if a file got the name meanwhile, except on a file system without hard links. */
function placeNew(part: string, file: string): void {
  try {
    linkSync(part, file);
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') throw cause;
    renameOver({ renameSync }, part, file);
  }
}

function alreadyThere(file: string, cause?: unknown): AppError {
  return new AppError('conflict', `${file} is already there.`, { cause, hint: 'Name a file that is not there yet.' });
}

/** Overwrites the file. `instead` says where to find the result if the file cannot be written. Fails with `store_full` or `invalid_params`. */
export function writeResult(file: string, content: string, instead: string): void {
  try {
    writeFileSync(file, content, { mode: OWNER_ONLY });
  } catch (cause) {
    throw cannotWrite(file, cause, instead);
  }
}

function cannotWrite(file: string, cause: unknown, hint?: string): AppError {
  const isFull = /^(?:ENOSPC|EDQUOT)$/.test(errnoOf(cause) ?? '');
  return new AppError(isFull ? 'store_full' : 'invalid_params', `${file} cannot be written: ${whyFileFailed(cause)}.`, { cause, hint });
}
