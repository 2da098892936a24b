// Programs that the runtime itself starts: hooks, verifiers, servers, known system programs. Each carries the marker of this data folder
// and of a call, so that a command line started by one cannot answer for a person. Does not decide what may run.

import type { IdSource } from '../../base/ids.ts';
import type { EnvironmentMarker } from './process-trees.ts';
import { runProgram, type ProgramDeps, type ProgramEnd, type ProgramRun } from './run-program.ts';
import { startProgram, type ProgramStart, type RunningProgram } from './start-program.ts';

export interface ProgramsDeps extends ProgramDeps {
  readonly ids: Pick<IdSource, 'next'>;
  readonly instanceMarker: EnvironmentMarker;
  /** The folder in which the programs run. */
  readonly workspace: string;
}

/**
 * Asks a program: writes to its standard input and reads its answer from standard output, within the timeout. Ends it with all it started.
 */
export type AskProgram = (
  argv: readonly string[],
  input: string,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<ProgramEnd>;

const ANSWER_BYTES_MAX = 64 * 1024;
const NOT_FOUND =
  ': it, or a program that it starts, was not found. In the sandbox your home folder and /tmp look empty: put it into a folder of PATH, or ' +
  'name its folder in sandbox.files.read';

export class Programs {
  readonly #deps: ProgramsDeps;
  readonly ask: AskProgram = (argv, input, limits) =>
    this.run({ argv, input, ...limits, cwd: this.#deps.workspace, outputBytesMax: ANSWER_BYTES_MAX });

  constructor(deps: ProgramsDeps) {
    this.#deps = deps;
  }

  /** `marker` is that of the call to which the program belongs, if any. */
  run({ marker, ...run }: Omit<ProgramRun, 'marker'> & { readonly marker?: EnvironmentMarker }): Promise<ProgramEnd> {
    return runProgram(this.#deps, { ...run, marker: this.#marked(marker) });
  }

  start(start: Omit<ProgramStart, 'marker'>): Promise<RunningProgram> {
    return startProgram(this.#deps, { ...start, marker: this.#marked() });
  }

  #marked(marker: EnvironmentMarker = { TRAYCLAW_CALL: this.#deps.ids.next('evt') }): EnvironmentMarker {
    return { ...this.#deps.instanceMarker, ...marker };
  }
}

/** How a program that gave no answer ended. Shells and the sandbox use 126 and 127 for programs that they cannot start. */
export function endWords(exitCode: number | null): string {
  if (exitCode === null) return 'was ended by a signal';
  const why =
    exitCode === 127 ? NOT_FOUND : exitCode === 126 ? ': the file is not executable, or the program in its first line is missing' : '';
  return `ended with code ${exitCode}${why}`;
}
