// Manages one child process with one model: starts it, sends orders, reads reports, ends it. If the child dies, its calls fail, each with
// one message. Does not decide when to restart it.

import { orAborted } from '../../../base/waits.ts';
import { AppError } from '../../../contracts/errors.ts';
import type { AnswerSink, CompleteOrder, EngineAnswer, EngineFailure, EngineOrder, EngineReport, LoadOrder } from './engine-messages.ts';

/** A started child process, of Node or Electron. */
export interface ChildHandle {
  /** Undefined before the process has spawned. */
  readonly pid: number | undefined;
  /** Calls the listener once the process has a pid. */
  onSpawn(listener: () => void): void;
  send(message: EngineOrder): void;
  onMessage(listener: (message: unknown) => void): void;
  onExit(listener: () => void): void;
  /** Receives the text of its standard error. */
  onError(listener: (text: string) => void): void;
  kill(): void;
}

interface Open {
  readonly done: PromiseWithResolvers<EngineReport>;
  readonly listener: AnswerSink | null;
}

const ERRORS_KEPT = 4_000;

export class EngineProcess {
  readonly #child: ChildHandle;
  readonly #name: string;
  readonly #onCancel: (id: number) => void;
  readonly #open = new Map<number, Open>();
  /** Cancelled calls that the child has not ended yet. */
  readonly #ending = new Set<number>();
  readonly #loaded = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  #hasLoaded = false;
  #isEnded = false;
  #errors = '';

  /** `name` is the file name to show. `onCancel` is called for each abandoned call that the child may still be working on. */
  constructor(child: ChildHandle, order: LoadOrder, name: string, onCancel: (id: number) => void) {
    this.#child = child;
    this.#name = name;
    this.#onCancel = onCancel;
    // Prevents an unhandled rejection if no caller is waiting.
    this.#loaded.promise.catch(() => undefined);
    child.onMessage((message) => this.#take(message as EngineReport));
    child.onExit(() => this.#end());
    child.onError((text) => {
      this.#errors = (this.#errors + text).slice(-ERRORS_KEPT);
    });
    child.send({ kind: 'load', ...order });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** True if the child accepts no more orders. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  get hadLoaded(): boolean {
    return this.#hasLoaded;
  }

  get isBusy(): boolean {
    return this.#open.size > 0 || this.#ending.size > 0 || !this.#hasLoaded;
  }

  /** Returns whether the child is still working on a cancelled call. */
  isEnding(id: number): boolean {
    return !this.#isEnded && this.#ending.has(id);
  }

  /** Resolves when the process has exited. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Resolves to the window once the file is loaded. Fails if it cannot be loaded. */
  get loaded(): Promise<number> {
    return this.#loaded.promise;
  }

  /** Fails with `model_*`, or immediately with the signal's reason when the signal aborts. */
  async complete(order: CompleteOrder, listener: AnswerSink, signal: AbortSignal): Promise<EngineAnswer> {
    const report = await this.#ask((id) => ({ kind: 'complete', id, ...order }), listener, signal);
    if (report.kind === 'answered') return report.answer;
    throw this.#unexpected();
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<{ vectors: readonly (readonly number[])[]; tokens: number }> {
    const report = await this.#ask((id) => ({ kind: 'embed', id, texts }), null, signal);
    if (report.kind === 'embedded') return report;
    throw this.#unexpected();
  }

  /** The child accepts no more orders from now on; `ended` resolves when it has exited. */
  kill(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#child.kill();
  }

  /** Fails with the signal's reason as soon as the signal aborts. */
  async #ask(order: (id: number) => EngineOrder, listener: AnswerSink | null, signal: AbortSignal): Promise<EngineReport> {
    if (this.#isEnded) throw this.#died();
    signal.throwIfAborted();
    this.#lastId += 1;
    const id = this.#lastId;
    const open: Open = { done: Promise.withResolvers(), listener };
    this.#open.set(id, open);
    this.#child.send(order(id));
    try {
      return await orAborted(open.done.promise, signal, () => signal.reason as Error);
    } finally {
      if (this.#open.delete(id)) this.#cancel(id);
    }
  }

  #cancel(id: number): void {
    this.#ending.add(id);
    this.#child.send({ kind: 'cancel', id });
    this.#onCancel(id);
  }

  #take(report: EngineReport): void {
    if (report.kind === 'loaded') {
      this.#hasLoaded = true;
      return this.#loaded.resolve(report.contextTokens);
    }
    if (report.kind === 'not-loaded') return this.#refuse(report.message);
    const open = this.#open.get(report.id);
    if (open === undefined) {
      const isProgress = report.kind === 'text' || report.kind === 'reasoning' || report.kind === 'calling' || report.kind === 'alive';
      if (!isProgress) this.#ending.delete(report.id);
      return;
    }
    if (report.kind === 'text' || report.kind === 'reasoning') return open.listener?.[report.kind](report.text);
    if (report.kind === 'calling' || report.kind === 'alive') return open.listener?.[report.kind]();
    this.#open.delete(report.id);
    if (report.kind === 'failed') open.done.reject(this.#failure(report.failure));
    else open.done.resolve(report);
  }

  #refuse(message: string): void {
    const error = new AppError('model_unavailable', `The engine cannot load ${this.#name}: ${sentence(message)}`, {
      hint: 'Check that the file is complete, and that the model fits into the memory of this computer.',
    });
    this.#loaded.reject(error);
    this.#failAll(error);
    this.kill();
  }

  #end(): void {
    this.#isEnded = true;
    const error = this.#died();
    this.#loaded.reject(error);
    this.#failAll(error);
    this.#ended.resolve();
  }

  #failAll(error: AppError): void {
    for (const { done } of this.#open.values()) done.reject(error);
    this.#open.clear();
  }

  #died(): AppError {
    const said = this.#errors.split('\n').findLast((line) => /GGML_ASSERT|error|failed|abort/i.test(line));
    const data = said === undefined ? {} : { said: said.slice(0, 300) };
    if (this.#hasLoaded) {
      const hint = 'The next request starts it again.';
      return new AppError('model_unavailable', `The engine stopped while ${this.#name} was in use.`, { data, hint });
    }
    const hint = 'The file may be damaged, or the model too large for the memory of this computer.';
    return new AppError('model_unavailable', `The engine stopped while loading ${this.#name}.`, { data, hint });
  }

  #failure(failure: EngineFailure): AppError {
    if (failure.why === 'too-long') {
      const { requestTokens, limitTokens } = failure;
      return new AppError('model_context_overflow', `The conversation is longer than ${this.#name} can read.`, {
        data: { requestTokens, limitTokens },
      });
    }
    const code = failure.why === 'refused' ? 'model_rejected' : 'model_unavailable';
    return new AppError(code, `${this.#name} gave no answer: ${sentence(failure.message)}`);
  }

  #unexpected(): AppError {
    return new AppError('model_bad_reply', `The engine gave an answer to something it was not asked (${this.#name}).`);
  }
}

function sentence(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ').trim().slice(0, 300);
  return /[.!?)]$/.test(line) ? line : `${line}.`;
}
