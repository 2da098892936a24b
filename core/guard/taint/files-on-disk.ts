// The state of a file on the disk, as far as marks depend on it.

import { accessSync, constants, existsSync } from 'node:fs';

export const filesOnDisk = { exists: existsSync, isExecutable };

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing, or not executable: for an automatic start the two are the same.
    return false;
  }
}
