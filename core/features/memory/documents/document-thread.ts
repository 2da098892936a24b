// Runs the jobs that read documents in a single worker thread, each with a time limit. A document that crashes the thread fails only its
// own job.

import { Worker } from 'node:worker_threads';
import { endThread } from '../../../base/end-thread.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { DocumentJob, DocumentResults } from './read-document.ts';

interface Open {
  readonly id: number;
  readonly resolve: (result: never) => void;
  readonly reject: (cause: AppError) => void;
  readonly timer: NodeJS.Timeout;
}

const MEMORY_MB_MAX = 512;

export class DocumentThread {
  readonly #timeMaxMs: number;
  #worker: Worker | null = null;
  #open: Open | null = null;
  #lastId = 0;
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(timeMaxMs = 60_000) {
    this.#timeMaxMs = timeMaxMs;
  }

  /**
   * Runs jobs one at a time. Fails with tool_failed if a job takes too long or too much memory, and with cancelled when the thread is
   * closed.
   */
  run<K extends DocumentJob['kind']>(job: Extract<DocumentJob, { kind: K }>): Promise<DocumentResults[K]> {
    const ran = this.#queue.then(() => this.#run<K>(job));
    this.#queue = ran.catch(() => undefined);
    return ran;
  }

  /** Ends the thread while there is nothing to read, because an idle thread costs memory. */
  async rest(): Promise<void> {
    const worker = this.#worker;
    if (this.#open !== null || worker === null) return;
    this.#worker = null;
    await endThread(worker);
  }

  async dispose(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#fail('cancelled', 'Reading documents was stopped.');
    if (worker !== null) await endThread(worker);
  }

  #run<K extends DocumentJob['kind']>(job: DocumentJob): Promise<DocumentResults[K]> {
    if (this.#isClosed) return Promise.reject(new AppError('cancelled', 'Reading documents was stopped.'));
    const worker = (this.#worker ??= this.#start());
    const id = (this.#lastId += 1);
    return new Promise<DocumentResults[K]>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#drop(worker, 'It takes too long to be read.');
      }, this.#timeMaxMs);
      timer.unref();
      this.#open = { id, resolve, reject, timer };
      worker.postMessage({ id, job });
    });
  }

  #start(): Worker {
    const worker = new Worker(workerFile(), { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX } });
    worker.unref();
    worker.on('message', ({ id, result, failed }: { id: number; result?: unknown; failed?: string }) => {
      const open = this.#open;
      if (open?.id !== id) return;
      this.#open = null;
      clearTimeout(open.timer);
      if (failed === undefined) open.resolve(result as never);
      else open.reject(new AppError('tool_failed', 'It could not be read.', { cause: failed }));
    });
    worker.on('error', () => this.#drop(worker, 'It is too much to be read.'));
    worker.on('exit', () => this.#drop(worker, 'It could not be read.'));
    return worker;
  }

  #drop(worker: Worker, why: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    this.#fail('tool_failed', why);
    void endThread(worker);
  }

  #fail(code: 'tool_failed' | 'cancelled', why: string): void {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    clearTimeout(open.timer);
    open.reject(new AppError(code, why));
  }
}

/** The worker file is next to this file in the checkout. In the build it is a separate entry, and this file is part of a chunk. */
function workerFile(): URL {
  const here = import.meta.url;
  if (here.endsWith('.ts')) return new URL('./document-worker.ts', here);
  return new URL(here.includes('/chunks/') ? '../document-worker.js' : './document-worker.js', here);
}
