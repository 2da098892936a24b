// Finds the folder of the bundled skills.

import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outsideArchive } from '../../guard/sandbox/sandbox.ts';

/** The folder in the checkout, next to dist/, or in the package. Null if the bundled skills are not included. */
export function bundledSkills(): string | null {
  const here = import.meta.url;
  const up = here.endsWith('.ts') ? '../../../skills' : here.includes('/chunks/') ? '../../skills' : '../skills';
  const folder = outsideArchive(fileURLToPath(new URL(up, here)));
  return existsSync(folder) ? realpathSync(folder) : null;
}
