// utilityProcess: a child process of Node whose only connection is `process.parentPort`. Its checks of arguments follow Electron's
// lib/browser/api/utility-process.ts.

import { fork, type ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ForkOptions } from 'electron';
import { needsReady } from './lifecycle.ts';

const childMain = fileURLToPath(new URL('./utility-child.ts', import.meta.url));
const outputs: readonly unknown[] = ['inherit', 'ignore', 'pipe'];

class UtilityProcess extends EventEmitter {
  readonly #child: ChildProcess;
  #isSpawned = false;
  #isGone = false;

  constructor(modulePath: string, args: readonly string[], options: ForkOptions) {
    super();
    needsReady('utilityProcess');
    const [stdin, stdout, stderr] = checkedStdio(options.stdio ?? 'inherit');
    this.#child = fork(childMain, [modulePath, ...args], {
      execArgv: options.execArgv ?? [],
      serialization: 'advanced',
      stdio: [stdin, stdout, stderr, 'ipc'],
      ...(options.env === undefined ? {} : { env: { ...options.env } }),
    });
    this.#child.once('spawn', () => {
      this.#isSpawned = true;
      this.emit('spawn');
    });
    this.#child.on('message', (message) => this.emit('message', message));
    this.#child.once('exit', (code, signal) => {
      this.#isGone = true;
      // V8 aborts when it runs out of memory. As for every emitter, an `error` that is not listened to is thrown.
      if (signal === 'SIGABRT') this.emit('error', 'FatalError', 'v8::internal::V8::FatalProcessOutOfMemory', '{}');
      this.emit('exit', code ?? constants.signals[signal ?? 'SIGKILL']);
    });
  }

  /** "Until the child process has spawned successfully, the value is undefined." */
  get pid(): number | undefined {
    return this.#isSpawned && !this.#isGone ? this.#child.pid : undefined;
  }

  get stdout(): Readable | null {
    return this.#child.stdout;
  }

  get stderr(): Readable | null {
    return this.#child.stderr;
  }

  postMessage(message: object): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): boolean {
    return this.#child.kill('SIGTERM');
  }
}

function checkedStdio(given: NonNullable<ForkOptions['stdio']>): ['ignore', Output, Output] {
  const [stdin, stdout, stderr] = typeof given === 'string' ? ['ignore', given, given] : given;
  if (stderr === undefined) throw new Error('configuration missing for stdin, stdout or stderr.');
  if (stdin !== 'ignore') throw new Error('stdin value other than ignore is not supported.');
  if (!isOutput(stdout)) throw new Error('stdout configuration must be of the following values: inherit, pipe, ignore');
  if (!isOutput(stderr)) throw new Error('stderr configuration must be of the following values: inherit, pipe, ignore');
  return [stdin, stdout, stderr];
}

type Output = 'inherit' | 'ignore' | 'pipe';

function isOutput(value: unknown): value is Output {
  return outputs.includes(value);
}

export const utilityProcess = {
  fork: (modulePath: string, args: string[] = [], options: ForkOptions = {}): UtilityProcess =>
    new UtilityProcess(modulePath, args, options),
};
