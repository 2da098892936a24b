// The variable HOME, before anything asks where the person's folder is.

import { isAbsolute } from 'node:path';

/**
 * With an empty or relative HOME the data folder would be below whatever folder the program was started in: without it the system answers
 * from the user's entry. A user without an entry, as in a container, gets a folder that does not exist.
 */
export function settleHome(env: NodeJS.ProcessEnv, homedir: () => string): void {
  if (!isAbsolute(env['HOME'] ?? '/')) delete env['HOME'];
  try {
    homedir();
  } catch {
    env['HOME'] = '/nonexistent';
  }
}
