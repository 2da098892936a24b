// Reads the instruction files of a folder.

import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import type { ProjectFiles } from './instructions.ts';

/** Reads plain files only, because a link could lead out of the folder. */
export const projectFiles: ProjectFiles = {
  stamp: (path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}` : null;
  },
  read: (path, bytesMax) => {
    try {
      return readBeginning(path, bytesMax);
    } catch {
      // A file that has disappeared or cannot be read is treated as missing.
      return null;
    }
  },
};

function readBeginning(path: string, bytesMax: number): string {
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const bytes = Buffer.alloc(bytesMax);
    return bytes.subarray(0, readSync(handle, bytes, 0, bytesMax, 0)).toString('utf8');
  } finally {
    closeSync(handle);
  }
}
