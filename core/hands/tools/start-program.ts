// Starts a long-running program for the runtime itself and communicates over its standard input and output. Confined, marked and registered
// like every command, so that the panic stop finds it. Knows nothing about its purpose.

import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../contracts/errors.ts';
import { childEnvironment } from './child-environment.ts';
import { wrapCommand } from './confined-start.ts';
import { findProgram } from './find-program.ts';
import type { ProgramDeps, ProgramRun } from './run-program.ts';
import { settlesWithin } from '../../base/waits.ts';

export type ProgramStart = Required<Pick<ProgramRun, 'argv' | 'cwd' | 'sets' | 'marker' | 'attended' | 'signal'>>;

export interface RunningProgram {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves to how it ended, such as "it ended with code 1". Never rejects. */
  readonly ended: Promise<string>;
  /** Closes its input, gives it a moment to end, then kills it and everything it started. */
  end(): Promise<void>;
}

const GRACE_MS = 500;

/** Fails with `tool_failed` if the program cannot be started, and with `sandbox_unavailable` if it must not run unconfined. */
export async function startProgram(deps: ProgramDeps, start: ProgramStart): Promise<RunningProgram> {
  const [file = '', ...args] = start.argv;
  const { cwd, marker, sets, attended, signal } = start;
  const environment = childEnvironment(deps.environment, marker, deps.platform);
  // Confined, another program starts it, and would report its own failure. Windows completes names in other ways.
  const isElsewhere = deps.platform === 'win32' || Object.hasOwn(sets, 'PATH');
  if (!isElsewhere && !isThere(file, cwd)) {
    throw new AppError('tool_failed', `There is no program ${file} on this computer.`, {
      hint: 'Install it, or name it by its full path.',
    });
  }
  const place = { cwd, environment, sets, marker, attended, reads: null, needsWholeMachine: false, signal };
  const wrapped = await wrapCommand(deps.sandbox, { file, args }, place);
  let child: ChildProcess | null = null;
  try {
    signal.throwIfAborted();
    child = spawn(wrapped.file, wrapped.args, {
      cwd,
      env: wrapped.environment,
      detached: deps.platform !== 'win32',
      windowsHide: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    return await supervised(deps, start, child, () => wrapped.dispose());
  } catch (cause) {
    if (child?.pid === undefined) await wrapped.dispose();
    throw cause;
  }
}

function isThere(file: string, cwd: string): boolean {
  if (!file.includes('/')) return findProgram(file) !== null;
  return existsSync(isAbsolute(file) ? file : join(cwd, file));
}

async function supervised(
  deps: ProgramDeps,
  { argv, marker }: ProgramStart,
  child: ChildProcess,
  dispose: () => Promise<unknown>,
): Promise<RunningProgram> {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new AppError('tool_failed', `${argv[0] ?? ''} could not be started: ${cause.message}.`, { cause });
  }
  const untrack = deps.trees.track({ ...deps.trees.recordOf(pid), marker });
  const exited = Promise.withResolvers<string>();
  child.on('error', () => undefined);
  child.once('exit', (code, signal) => exited.resolve(signal === null ? `it ended with code ${code ?? 0}` : `it was ended by ${signal}`));
  // The program may end at any moment; its end is reported separately.
  stdin.on('error', () => undefined);
  const release = async (): Promise<void> => {
    if (deps.trees.hasGroup(pid)) await deps.trees.kill(pid);
    untrack();
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
    await dispose();
  };
  const released = exited.promise.then(release, release);
  return {
    stdin,
    stdout,
    stderr,
    ended: exited.promise,
    end: async () => {
      stdin.end();
      if (!(await settlesWithin(exited.promise, GRACE_MS))) await deps.trees.kill(pid);
      await released;
    },
  };
}
