// The input and the result of a section.

import type { Figure } from './figures.ts';

export interface BenchContext {
  readonly projectRoot: string;
  /** dist/index.js, or core/index.ts where nothing is built. */
  readonly libraryFile: string;
  /** Null where nothing is built: what starts the program then cannot be measured. */
  readonly cliFile: string | null;
  /** Origin of the scripted model server. */
  readonly origin: string;
  readonly profileFolder: string | null;
  /** Repetitions: the usual number times the scale the person asked for. */
  count(usual: number): number;
  /** Progress and what could not be measured, for standard error. */
  say(line: string): void;
}

export type Section = (context: BenchContext) => Promise<readonly Figure[]>;
