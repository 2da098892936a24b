// Reads a text of the person's own in the data folder.

import { readFileSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';

/** Null where it is outside the folder, or not there. */
export function readBelow(home: string, path: string): string | null {
  try {
    const real = realpathSync(resolve(home, path));
    return isInside(real, realpathSync(home)) ? readFileSync(real, 'utf8') : null;
  } catch {
    // Missing or unreadable: the agent then has no identity text, which `agents show` reports.
    return null;
  }
}
