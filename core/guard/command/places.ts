// What the analysis asks about paths, as a port: whoever knows the workspace and the protected places answers it.

import type { PathFact } from '../../contracts/tools.ts';

export interface CommandPlaces {
  /** Where `given` leads when a command in `cwd` (a real path) uses it. A `~` in it is a letter. */
  fact(given: string, cwd: string, access: PathFact['access']): PathFact;
  /** Why no grant covers a real path, by its letters alone, or null. */
  protectionOf(real: string): string | null;
  /** Real paths of the folders the agent may work in. */
  readonly opened: readonly string[];
  /** TrayClaw's own data folder, real path. */
  readonly home: string;
  /** What an unquoted `~` stands for. */
  readonly userHome: string;
}
