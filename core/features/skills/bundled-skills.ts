// Finds the folder of the bundled skills.

import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outsideArchive } from '../../guard/sandbox/sandbox.ts';

/** In the program's folder: the checkout, next to dist/, or the package. Null if they were not included. */
export function bundledSkills(): string | null {
  const here = import.meta.url;
  const up = here.endsWith('.ts') ? '../../../skills' : here.includes('/chunks/') ? '../../skills' : '../skills';
  const folder = outsideArchive(fileURLToPath(new URL(up, here)));
  return existsSync(folder) ? realpathSync(folder) : null;
}
