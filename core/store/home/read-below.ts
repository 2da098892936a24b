// Reads a text file of the person in the data folder.

import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';

/** Returns null if the file is outside the folder or missing. */
export function readBelow(home: string, path: string): string | null {
  try {
    const real = realpathSync(resolve(home, path));
    return isInside(real, realpathSync(home)) ? readFileSync(real, 'utf8') : null;
  } catch {
    // Missing or unreadable. The agent then has no identity text, which `agents show` reports.
    return null;
  }
}
