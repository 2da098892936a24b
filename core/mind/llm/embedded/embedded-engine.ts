// The engine for GGUF files: decides which child process serves which file, when it is started, when its memory is released, and how long a
// file that crashed it is left alone. Installs nothing, and starts nothing before the first request.

import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import type { Clock, Later } from '../../../base/clock.ts';
import { orAborted } from '../../../base/waits.ts';
import type { Logger } from '../../../base/logger.ts';
import { AppError, toAppError } from '../../../contracts/errors.ts';
import type { AnswerSink, CompleteOrder, EngineAnswer } from './engine-messages.ts';
import { modelFilePath } from './engine-place.ts';
import { EngineProcess, type ChildHandle } from './engine-process.ts';

export type StartChild = (script: URL, environment: Readonly<Record<string, string>>) => ChildHandle;

export interface EngineDeps {
  readonly home: string;
  readonly userHome: string;
  /** The folder of the installed engine; null if it is not installed. */
  readonly library: () => string | null;
  readonly start: StartChild;
  /** The environment of the child, without the person's keys. */
  readonly environment: () => Readonly<Record<string, string>>;
  /** Registers the child with the panic stop. Returns a function that removes it again. */
  readonly track: (pid: number) => () => void;
  readonly clock: Clock;
  readonly later: Later;
  readonly logger: Logger;
  readonly times?: Partial<EngineTimes>;
}

export interface EngineTimes {
  /** An unused model leaves memory after this time. */
  readonly idleMs: number;
  /** A child that is still loading its file after this time is stuck. Generous, because a large model may be on a slow disk. */
  readonly loadMs: number;
  /** A child that has not ended a cancelled call after this time is stuck. It may have to finish reading one batch of a prompt. */
  readonly cancelMs: number;
}

/** One file and how it is loaded. */
export interface EngineFile {
  readonly file: string;
  readonly contextTokens: number;
  readonly threads?: number | undefined;
}

interface Running {
  readonly process: EngineProcess;
  stopIdle: () => void;
}

interface Failed {
  /** The size and modification time of the file that failed. */
  readonly stamp: string;
  readonly count: number;
  readonly untilMs: number;
  readonly error: AppError;
}

const usualTimes: EngineTimes = { idleMs: 5 * 60_000, loadMs: 10 * 60_000, cancelMs: 30_000 };
const REST_FIRST_MS = 10_000;
const REST_MS_MAX = 10 * 60_000;
/** A child that died this often while in use may be restarted immediately. */
const DEATHS_FREE = 1;

export class EmbeddedEngine {
  readonly #deps: EngineDeps;
  readonly #times: EngineTimes;
  readonly #running = new Map<string, Running>();
  readonly #failed = new Map<string, Failed>();
  #isClosed = false;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#times = { ...usualTimes, ...deps.times };
  }

  /** Fails with `model_*`, or with the signal's reason when the signal aborts. */
  complete(file: EngineFile, order: CompleteOrder, listener: AnswerSink, signal: AbortSignal): Promise<EngineAnswer> {
    return this.#with(file, signal, (process) => process.complete(order, listener, signal));
  }

  embed(
    file: EngineFile,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<{ vectors: readonly (readonly number[])[]; tokens: number }> {
    return this.#with(file, signal, (process) => process.embed(texts, signal));
  }

  /** The pids of the running child processes. */
  get pids(): readonly number[] {
    return [...this.#running.values()].flatMap(({ process }) => process.pid ?? []);
  }

  /** Ends every child; the next request starts a new one. For an engine that is replaced or removed. */
  async stop(): Promise<void> {
    const ending = [...this.#running.values()].map(({ process }) => {
      process.kill();
      return process.ended;
    });
    await Promise.all(ending);
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    await this.stop();
  }

  async #with<T>(file: EngineFile, signal: AbortSignal, work: (process: EngineProcess) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new AppError('cancelled', 'The program is closing.');
    const path = modelFilePath(file.file, this.#deps.home, this.#deps.userHome);
    const key = JSON.stringify([path, file.contextTokens, file.threads]);
    const stamp = stampOf(path);
    this.#assertMayTry(key, stamp, path);
    const known = this.#running.get(key);
    // A child that is being ended may still be in the map for a moment.
    const running = known === undefined || known.process.isEnded ? this.#start(key, file, path) : known;
    running.stopIdle();
    try {
      await orAborted(running.process.loaded, signal, () => signal.reason as Error);
      const done = await work(running.process);
      this.#failed.delete(key);
      return done;
    } catch (cause) {
      // Only a crash counts, not a call that the caller cancelled.
      if (!signal.aborted && running.process.isEnded) this.#remember(key, stamp, toAppError(cause), running.process);
      throw cause;
    } finally {
      this.#rest(running);
    }
  }

  #start(key: string, { contextTokens, threads }: EngineFile, path: string): Running {
    const { library, start, environment, track, later, logger } = this.#deps;
    const folder = library();
    if (folder === null) throw notInstalled();
    const child = start(childScript(), environment());
    const order = { library: folder, file: path, contextTokens, threads: threads ?? usualThreads(availableParallelism()) };
    const process = new EngineProcess(child, order, basename(path), (id) => this.#endIfStuck(process, id));
    const running: Running = { process, stopIdle: () => undefined };
    let untrack = (): void => undefined;
    // Node knows the pid immediately, Electron a moment later.
    const register = (): void => {
      untrack();
      if (child.pid !== undefined && !process.isEnded) untrack = track(child.pid);
    };
    register();
    child.onSpawn(register);
    this.#running.set(key, running);
    logger.log('info', 'the engine was started', { file: basename(path), pid: child.pid });
    const stopLoading = later(this.#times.loadMs, () => process.kill());
    // The caller may be gone by the time the file is loaded.
    void process.loaded
      .then(
        () => this.#rest(running),
        () => undefined,
      )
      .finally(stopLoading);
    void process.ended.then(() => {
      running.stopIdle();
      untrack();
      if (this.#running.get(key) === running) this.#running.delete(key);
    });
    return running;
  }

  /** Starts the idle timer of a child without calls, so that an unused model leaves memory. */
  #rest(running: Running): void {
    const { later, logger } = this.#deps;
    running.stopIdle();
    if (running.process.isBusy || running.process.isEnded) return;
    running.stopIdle = later(this.#times.idleMs, () => {
      if (running.process.isBusy) return;
      logger.log('info', 'the engine rests: its model leaves memory', { pid: running.process.pid });
      running.process.kill();
    });
  }

  /** Ends a child that does not end a cancelled call, because calls queued behind it would wait forever. */
  #endIfStuck(process: EngineProcess, id: number): void {
    this.#deps.later(this.#times.cancelMs, () => {
      if (!process.isEnding(id)) return;
      this.#deps.logger.log('warn', 'the engine did not end a cancelled call, and is ended', { pid: process.pid });
      process.kill();
    });
  }

  #remember(key: string, stamp: string, error: AppError, process: EngineProcess): void {
    const before = this.#failed.get(key);
    const count = (before?.stamp === stamp ? before.count : 0) + 1;
    const deathsFree = process.hadLoaded ? DEATHS_FREE : 0;
    const restMs = count <= deathsFree ? 0 : Math.min(REST_FIRST_MS * 2 ** (count - 1), REST_MS_MAX);
    this.#failed.set(key, { stamp, count, untilMs: this.#deps.clock.monotonicMs() + restMs, error });
    this.#deps.logger.log('warn', 'the engine stopped', { error: error.message, said: error.data['said'], count });
  }

  #assertMayTry(key: string, stamp: string, path: string): void {
    const failed = this.#failed.get(key);
    if (failed === undefined || failed.stamp !== stamp) return;
    const leftMs = failed.untilMs - this.#deps.clock.monotonicMs();
    if (leftMs <= 0) return;
    const { code, message, data } = failed.error;
    const hint = `${basename(path)} is tried again in ${Math.ceil(leftMs / 1000)} seconds, or as soon as the file changes.`;
    throw new AppError(code, message, { data, hint });
  }
}

export function notInstalled(): AppError {
  return new AppError('model_unavailable', 'The engine that runs GGUF files is not installed.', {
    hint: 'Install it: trayclaw model install-engine. It says first what it downloads.',
  });
}

/** Leaves one core to everything else: with all cores in use, the engine's threads wait for each other on a busy computer. */
export function usualThreads(cores: number): number {
  // Most processors run two threads per core, and a second engine thread on the same core slows the engine down.
  const physical = cores > 2 ? Math.ceil(cores / 2) : cores;
  return Math.max(1, physical - 1);
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) {
    throw new AppError('model_unavailable', `There is no file ${path}.`, { hint: 'Correct its path in config.yaml.' });
  }
  return `${stat.size}:${stat.mtimeMs}`;
}

/** The script is a source file in the checkout and a separate entry point in the build. */
function childScript(): URL {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return new URL('./engine-child.ts', here);
  return new URL(here.includes('/chunks/') ? '../engine-child.js' : './engine-child.js', here);
}
