// Resolves the real path of a folder in the settings.

import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** A missing folder keeps its given name and is resolved again later. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
