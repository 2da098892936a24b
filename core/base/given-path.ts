// A path as a person gave it, in full. A shell leaves a `~` alone in `--home=~/x`, in quotes and in a file of variables; it means the
// person's own folder there, too.

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
