// Where the skills lie that come with the program.

import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outsideArchive } from '../../guard/sandbox/sandbox.ts';

/** They lie beside the program: in the checkout, beside dist/, or in the package. Null where somebody left them out. */
export function bundledSkills(): string | null {
  const here = import.meta.url;
  const up = here.endsWith('.ts') ? '../../../skills' : here.includes('/chunks/') ? '../../skills' : '../skills';
  const folder = outsideArchive(fileURLToPath(new URL(up, here)));
  return existsSync(folder) ? realpathSync(folder) : null;
}
