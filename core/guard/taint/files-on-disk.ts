// The state of a file on disk, as far as taint marks depend on it.

import { accessSync, constants, existsSync, lstatSync } from 'node:fs';

export const filesOnDisk = {
  exists: existsSync,
  isExecutable,
  isFolder: (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
};

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: neither can be started directly.
    return false;
  }
}
