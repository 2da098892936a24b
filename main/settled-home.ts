// Fixes the variable HOME before anything reads it.

import { isAbsolute } from 'node:path';

/**
 * With an empty or relative HOME, the data folder would be below the working folder. Without HOME, the system falls back to the user's
 * passwd entry. A user without an entry, as in a container, gets a folder that does not exist.
 */
export function settleHome(env: NodeJS.ProcessEnv, homedir: () => string): void {
  if (!isAbsolute(env['HOME'] ?? '/')) delete env['HOME'];
  try {
    homedir();
  } catch {
    env['HOME'] = '/nonexistent';
  }
}
