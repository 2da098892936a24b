// The input and the result of a section.

import type { Figure } from './figures.ts';

export interface BenchContext {
  readonly projectRoot: string;
  /** dist/index.js, or core/index.ts if nothing is built. */
  readonly libraryFile: string;
  /** Null if nothing is built; sections that start the program are then skipped. */
  readonly cliFile: string | null;
  /** The origin of the scripted model server. */
  readonly origin: string;
  readonly profileFolder: string | null;
  /** Repetitions: the usual number times the requested scale. */
  count(usual: number): number;
  /** Prints progress, and what could not be measured, to standard error. */
  say(line: string): void;
}

export type Section = (context: BenchContext) => Promise<readonly Figure[]>;
