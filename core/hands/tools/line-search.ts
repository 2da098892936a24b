// Searches files line by line in a separate thread, so that an expression that never terminates can be stopped. Owns the thread; each
// search has its own.

import { Worker } from 'node:worker_threads';
import { endThread } from '../../base/end-thread.ts';
import { createLineCollector, grepWorkerMain, type GrepReply, type GrepWorkerData } from './grep-worker.ts';

export interface LineSearchOptions extends GrepWorkerData {
  /** How long one section of a file may take before the expression is aborted. */
  readonly stallMs: number;
  readonly signal: AbortSignal;
}

/** The early end of a batch: `stalled` names the file on which the expression hung. */
export type SearchStop = { readonly kind: 'stalled'; readonly file: string } | { readonly kind: 'aborted' | 'crashed' };

type FileReply = Exclude<GrepReply, { kind: 'alive' }>;

export class LineSearch {
  readonly #worker: Worker;
  readonly #options: LineSearchOptions;

  constructor(options: LineSearchOptions) {
    this.#options = options;
    const { pattern, flags, contextLines, lineCharsMax, shownCharsMax, linesMax } = options;
    const workerData: GrepWorkerData = { pattern, flags, contextLines, lineCharsMax, shownCharsMax, linesMax };
    this.#worker = new Worker(`(${grepWorkerMain.toString()})(${createLineCollector.toString()})`, {
      eval: true,
      workerData,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    // A crash outside a batch is noticed by the next batch, which then gets no answer.
    this.#worker.on('error', () => undefined);
  }

  /** Searches the files in order and passes on each answer. Returns why it stopped early, or null. */
  search(files: readonly string[], onReply: (reply: FileReply) => void): Promise<SearchStop | null> {
    if (files.length === 0) return Promise.resolve(null);
    const { stallMs, signal } = this.#options;
    const worker = this.#worker;
    return new Promise((resolve) => {
      let answered = 0;
      const end = (stop: SearchStop | null): void => {
        clearTimeout(timer);
        worker.off('message', onMessage);
        worker.off('exit', onExit);
        signal.removeEventListener('abort', onAbort);
        resolve(stop);
      };
      const timer = setTimeout(() => end({ kind: 'stalled', file: files[answered] ?? '' }), stallMs);
      const onAbort = (): void => end({ kind: 'aborted' });
      const onExit = (): void => end({ kind: 'crashed' });
      const onMessage = (reply: GrepReply): void => {
        timer.refresh();
        if (reply.kind === 'alive') return;
        answered += 1;
        onReply(reply);
        if (answered === files.length) end(null);
      };
      worker.on('message', onMessage);
      worker.on('exit', onExit);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) end({ kind: 'aborted' });
      else worker.postMessage(files);
    });
  }

  async close(): Promise<void> {
    await endThread(this.#worker);
  }
}
