// Reads files that criteria name, only inside the folder of the work.

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';

const FILE_BYTES_MAX = 2_000_000;

/** `problem` says why the file cannot be used. */
export type FoundFile = { readonly path: string; readonly sizeBytes: number } | { readonly problem: string };

/** `isKept` returns whether the file is protected, such as a key, so that only a person may read it. */
export function findFile(folder: string, given: string, isKept: (real: string) => boolean): FoundFile {
  try {
    const real = realpathSync(resolve(folder, given));
    if (!isInside(real, realpathSync(folder))) return { problem: `${given} leads out of the folder of the task` };
    if (isKept(real)) return { problem: `${given} is protected and is not read` };
    const stat = statSync(real);
    return stat.isFile() ? { path: real, sizeBytes: stat.size } : { problem: `${given} is no file` };
  } catch {
    return { problem: `there is no file ${given}` };
  }
}

export function readFound(
  folder: string,
  given: string,
  isKept: (real: string) => boolean,
): { readonly text: string } | { readonly problem: string } {
  const found = findFile(folder, given, isKept);
  if ('problem' in found) return found;
  if (found.sizeBytes > FILE_BYTES_MAX) return { problem: `${given} is larger than ${FILE_BYTES_MAX} bytes` };
  return { text: readFileSync(found.path, 'utf8') };
}
