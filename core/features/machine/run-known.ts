// Runs one known program to its end and explains failures plainly. Does not decide what may run.

import { AppError } from '../../contracts/errors.ts';
import type { ToolContext } from '../../contracts/tools.ts';
import { findProgram, type ProgramEnd } from '../../hands/tools/tools.ts';

export interface KnownRun {
  readonly argv: readonly string[];
  readonly input?: Uint8Array;
  readonly encoding?: 'utf8' | 'hex';
  readonly sets?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The program runs until the timeout, and its output so far is the result. */
  readonly endsByTime?: boolean;
  /** For a program that only asks another one to do the work: a sentence about the state after a stop. */
  readonly left?: string;
  readonly context: Pick<ToolContext, 'signal' | 'workspace' | 'processMarker'>;
}

/** Returns the combined output and errors of the program. */
export type RunKnown = (run: KnownRun) => Promise<ProgramEnd>;

/** Returns the output of the program. Fails with `tool_failed` and the program's message. */
export async function outputOf(run: RunKnown, known: KnownRun, packageName: string): Promise<string> {
  const { exitCode, output } = await endOf(run, known, packageName);
  if (exitCode === 0) return output;
  throw new AppError(
    'tool_failed',
    `${known.argv.join(' ').slice(0, 200)} ended with code ${exitCode ?? '?'}: ${output.trim().slice(0, 600) || 'it said nothing'}`,
  );
}

export async function endOf(run: RunKnown, known: KnownRun, packageName: string): Promise<ProgramEnd> {
  const [name = '', ...args] = known.argv;
  const path = findProgram(name);
  if (path === null) {
    throw new AppError('tool_failed', `There is no program ${name} on this computer.`, { hint: `Install ${packageName}.` });
  }
  const ended = await run({ ...known, argv: [path, ...args] });
  const left = known.left === undefined ? '' : ` ${known.left}`;
  if (ended.ending === 'timeout' && known.endsByTime !== true)
    throw new AppError('tool_failed', `${name} did not end within ${known.timeoutMs / 1000} s, and was stopped.${left}`);
  if (ended.ending === 'cancelled') throw new AppError('cancelled', `${name} was stopped.${left}`);
  if (ended.ending === 'flooded') throw new AppError('tool_failed', `${name} said more than fits; ask for less.`);
  return ended;
}
