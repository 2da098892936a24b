// Where a folder of the settings really lies.

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** One that is not there yet is looked for by its own name from time to time. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
