// Manages a service's one file: writes it completely or not at all, and never replaces a file that the person wrote.

import * as fs from 'node:fs';
import { replaceFile } from '../../core/base/rename-over.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { ownMark } from './service-unit.ts';

/** Returns true if the file changed. Throws `conflict` if another program wrote it. */
export function writeServiceFile(file: string, text: string): boolean {
  const before = readOwn(file);
  if (before === text) return false;
  try {
    replaceFile(fs, file, text);
    fs.chmodSync(file, 0o644);
  } catch (cause) {
    throw new AppError('store_readonly', `${file} cannot be written.`, { cause });
  }
  return true;
}

/** Returns false if there was no file. Throws `conflict` if another program wrote it. */
export function removeServiceFile(file: string): boolean {
  if (readOwn(file) === null) return false;
  fs.rmSync(file);
  return true;
}

/** The content of the file; null if it does not exist. */
export function readOwn(file: string): string | null {
  if (!fs.existsSync(file)) return null;
  const text = fs.readFileSync(file, 'utf8');
  if (text.split('\n', 2).some((line) => line.includes(ownMark))) return text;
  throw new AppError('conflict', `${file} was not written by TrayClaw and stays as it is.`, {
    hint: 'Move it away first, or change it yourself: trayclaw service install --print shows what it would say.',
  });
}
