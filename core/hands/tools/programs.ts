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
