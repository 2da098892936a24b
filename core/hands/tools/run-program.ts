// Runs one program to its end for the runtime itself: its input is written at once, its output read up to a limit, and it is confined and
// registered like every command. Knows nothing about its purpose.

import { spawn, type ChildProcess } from 'node:child_process';
import { AppError } from '../../contracts/errors.ts';
import type { CommandSandbox } from '../../guard/sandbox/sandbox.ts';
import { childEnvironment, type Environment } from './child-environment.ts';
import { reportOf, wrapCommand } from './confined-start.ts';
import type { EnvironmentMarker, ProcessTrees } from './process-trees.ts';
import { settlesWithin } from '../../base/waits.ts';

export interface ProgramDeps {
  readonly trees: ProcessTrees;
  readonly sandbox: CommandSandbox;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
}

export interface ProgramRun {
  /** A program and its arguments, which no shell interprets. */
  readonly argv: readonly string[];
  readonly input: string | Uint8Array;
  /** The real path of a folder. */
  readonly cwd: string;
  readonly marker: EnvironmentMarker;
  readonly timeoutMs: number;
  readonly outputBytesMax: number;
  readonly signal: AbortSignal;
  /**
   * True if a person approved exactly this program, or if it is one of ours with our own arguments; otherwise it runs in the sandbox of
   * commands.
   */
  readonly attended?: boolean;
  /** The folder it may change if it is confined; defaults to the configured workspace. */
  readonly workspace?: string;
  /** Variables in addition to those of every command. */
  readonly sets?: Readonly<Record<string, string>>;
  /** Includes standard error in the output. */
  readonly withErrors?: boolean;
  /** The encoding of the output in the result. */
  readonly encoding?: 'utf8' | 'hex';
}

export interface ProgramEnd {
  readonly ending: 'exited' | 'timeout' | 'cancelled' | 'flooded';
  readonly exitCode: number | null;
  /** Its standard output, and standard error if requested. */
  readonly output: string;
  /** Changes that the sandbox undid or could not check; empty if there are none. */
  readonly remarks: readonly string[];
}

const CLOSE_GRACE_MS = 500;

/**
 * Fails with `tool_failed` if the program cannot be started, and with `sandbox_unavailable` if it must not run unconfined. Leaves no
 * process behind.
 */
export async function runProgram(deps: ProgramDeps, run: ProgramRun): Promise<ProgramEnd> {
  const [file = '', ...args] = run.argv;
  const environment = childEnvironment(deps.environment, run.marker, deps.platform);
  const place = {
    cwd: run.cwd,
    environment,
    sets: run.sets ?? {},
    marker: run.marker,
    attended: run.attended ?? false,
    reads: null,
    needsWholeMachine: false,
    ...(run.workspace === undefined ? {} : { workspace: run.workspace }),
    signal: run.signal,
  };
  const wrapped = await wrapCommand(deps.sandbox, { file, args }, place);
  let isOver = false;
  try {
    run.signal.throwIfAborted();
    const child = spawn(wrapped.file, wrapped.args, {
      cwd: run.cwd,
      env: wrapped.environment,
      detached: deps.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', run.withErrors === true ? 'pipe' : 'ignore'],
    });
    const ended = await superviseChild(deps, run, child);
    isOver = true;
    const report = await reportOf(wrapped.dispose());
    return { ...ended, remarks: report.failed ? report.remarks : [] };
  } finally {
    if (!isOver) await wrapped.dispose();
  }
}

async function superviseChild(deps: ProgramDeps, run: ProgramRun, child: ChildProcess): Promise<Omit<ProgramEnd, 'remarks'>> {
  const { pid } = child;
  if (pid === undefined) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new AppError('tool_failed', `${run.argv[0] ?? ''} could not be started: ${cause.message}.`, { cause });
  }
  const untrack = deps.trees.track({ ...deps.trees.recordOf(pid), marker: run.marker });
  const output = takeOutput(child, run);
  const exited = Promise.withResolvers<number | null>();
  const closed = Promise.withResolvers<void>();
  child.on('error', () => undefined);
  child.once('exit', (exitCode) => exited.resolve(exitCode));
  child.once('close', () => closed.resolve());
  // A program that ends without reading its input breaks the pipe, which is allowed.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(run.input);
  try {
    const inTime = await settlesWithin(Promise.race([exited.promise, output.flooded.promise]), run.timeoutMs, run.signal);
    const isFlooded = output.isFlooded();
    if (!inTime || isFlooded) {
      await deps.trees.kill(pid);
      const ending = isFlooded ? 'flooded' : run.signal.aborted ? 'cancelled' : 'timeout';
      return { ending, exitCode: null, output: output.text() };
    }
    const exitCode = await exited.promise;
    const hasClosed = await settlesWithin(closed.promise, CLOSE_GRACE_MS);
    if (!hasClosed || deps.trees.hasGroup(pid)) await deps.trees.kill(pid);
    return output.isFlooded() ? { ending: 'flooded', exitCode: null, output: '' } : { ending: 'exited', exitCode, output: output.text() };
  } finally {
    child.stdin?.destroy();
    child.stdout?.destroy();
    child.stderr?.destroy();
    untrack();
  }
}

function takeOutput(child: ChildProcess, { outputBytesMax: bytesMax, encoding = 'utf8' }: ProgramRun) {
  const pieces: Buffer[] = [];
  const flooded = Promise.withResolvers<void>();
  let bytes = 0;
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= bytesMax) pieces.push(piece);
    else flooded.resolve();
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return { flooded, isFlooded: () => bytes > bytesMax, text: () => Buffer.concat(pieces).toString(encoding) };
}
