// Resolves a path as a person typed it. A shell does not expand `~` in `--home=~/x`, in quotes or in a file of variables, so it is expanded
// here.

import { resolve } from 'node:path';

export interface PathSources {
  readonly cwd: string;
  readonly userFolder: string;
}

export function givenPath({ cwd, userFolder }: PathSources, path: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=$|[\\/])/, () => userFolder),
  );
}
