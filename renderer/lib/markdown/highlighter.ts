// Highlights finished code blocks in a worker, which is started on the first request and ended after an idle time. A worker that takes too
// long over a text is ended as well, so that no text can block anything.

import type { CodeLines, CodeReply, CodeRequest } from './code-tokens.ts';

export interface CodeWorker {
  ask(request: CodeRequest): void;
  end(): void;
}

/** Starts a worker. Its replies go to the first function; the second is called once if it fails. */
export type StartCodeWorker = (onReply: (reply: CodeReply) => void, onFailure: () => void) => CodeWorker;

export interface Highlighter {
  /** Resolves to null if the text stays plain: unknown language, too long, timeout, or cancelled. */
  highlight(text: string, language: string, signal: AbortSignal): Promise<CodeLines | null>;
}

interface Job {
  readonly request: CodeRequest;
  readonly done: (lines: CodeLines | null) => void;
}

export const codeCharsMax = 60_000;
const jobsMax = 200;
const replyWithinMs = 5000;
const idleMs = 60_000;

export class WorkerHighlighter implements Highlighter {
  readonly #startWorker: StartCodeWorker;
  readonly #jobs: Job[] = [];
  #worker: CodeWorker | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = 0;

  constructor(startWorker: StartCodeWorker) {
    this.#startWorker = startWorker;
  }

  highlight(text: string, language: string, signal: AbortSignal): Promise<CodeLines | null> {
    if (language === '' || text.length > codeCharsMax || this.#jobs.length >= jobsMax || signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#lastId += 1;
      const job = { request: { id: this.#lastId, language, text }, done: resolve };
      this.#jobs.push(job);
      signal.addEventListener('abort', () => this.#withdraw(job), { once: true });
      if (this.#jobs.length === 1) this.#next();
    });
  }

  /** One at a time, so that a slow one can be identified. */
  #next(): void {
    clearTimeout(this.#timer);
    const [job] = this.#jobs;
    if (job === undefined) {
      this.#timer = setTimeout(() => this.#end(), idleMs);
      return;
    }
    this.#worker ??= this.#startWorker(
      ({ id, lines }) => this.#settle(id, lines),
      () => this.#giveUp(),
    );
    this.#timer = setTimeout(() => this.#giveUp(), replyWithinMs);
    this.#worker.ask(job.request);
  }

  #settle(id: number, lines: CodeLines | null): void {
    const [job] = this.#jobs;
    if (job?.request.id !== id) return;
    this.#jobs.shift();
    job.done(lines);
    this.#next();
  }

  /** The current text stays plain; the next one gets a new worker. */
  #giveUp(): void {
    this.#end();
    const [job] = this.#jobs;
    if (job !== undefined) this.#settle(job.request.id, null);
  }

  #withdraw(job: Job): void {
    const at = this.#jobs.indexOf(job);
    job.done(null);
    // The job that the worker is processing ends normally or by its timeout.
    if (at > 0) this.#jobs.splice(at, 1);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#worker?.end();
    this.#worker = null;
  }
}
