// Reads lines from the terminal, one question at a time. Text typed before an approval is asked never answers it.

import type { Interface } from 'node:readline';
import type { CliIo } from './ports.ts';

const typedAheadMax = 100;

export class LineReader {
  readonly #lines: Interface;
  readonly #typedAhead: string[] = [];
  readonly #interruptListeners = new Set<() => void>();
  readonly #io: CliIo;
  #waiting: ((line: string | null) => void) | null = null;
  #isClosed = false;

  private constructor(io: CliIo, lines: Interface) {
    this.#io = io;
    this.#lines = lines;
    lines.on('line', (line) => this.#take(line));
    const end = (): void => {
      this.#isClosed = true;
      this.#answer(null);
    };
    lines.on('close', end);
    // The input cannot be read, for example because the terminal was closed.
    lines.on('error', end);
    // In raw mode the terminal sends Ctrl-C as a key and not as a signal.
    lines.on('SIGINT', () => {
      for (const listener of this.#interruptListeners) listener();
    });
  }

  static async open(io: CliIo): Promise<LineReader> {
    const { createInterface } = await import('node:readline');
    return new LineReader(io, createInterface({ input: io.stdin, output: io.stderr, terminal: io.stdinIsTty && 'setRawMode' in io.stdin }));
  }

  onInterrupt(listener: () => void): () => void {
    this.#interruptListeners.add(listener);
    const stopListening = this.#io.onInterrupt(listener);
    return () => {
      this.#interruptListeners.delete(listener);
      stopListening();
    };
  }

  /** Returns the next line, or null at the end of input or if the signal aborts. */
  ask(prompt: string, signal?: AbortSignal): Promise<string | null> {
    const early = this.#typedAhead.shift();
    this.#lines.setPrompt(prompt);
    if (early !== undefined) return Promise.resolve(early);
    if (this.#isClosed || signal?.aborted) return Promise.resolve(null);
    this.#lines.prompt(true);
    return new Promise((resolve) => {
      const giveUp = (): void => {
        // Further output starts below the question.
        if (this.#lines.terminal) this.#io.stderr.write('\n');
        this.#answer(null);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting = (line) => {
        signal?.removeEventListener('abort', giveUp);
        resolve(line);
      };
    });
  }

  forgetTypedAhead(): void {
    this.#typedAhead.length = 0;
  }

  close(): void {
    this.#lines.close();
  }

  #take(line: string): void {
    if (this.#waiting !== null) this.#answer(line);
    else if (this.#typedAhead.length < typedAheadMax) this.#typedAhead.push(line);
  }

  #answer(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(line);
  }
}
