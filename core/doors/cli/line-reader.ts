// Reads lines from the terminal, one question at a time. Text typed before an approval is asked never answers it. A message may have several
// lines: pasted ones, and those that end with a backslash or with Alt-Enter.

import type { Interface } from 'node:readline';
import { callbackify } from 'node:util';
import type { CliIo } from './ports.ts';

const typedAheadMax = 100;
const HISTORY_MAX = 200;
const continued = '… ';
/** Asks the terminal to mark what is pasted, so that its line breaks do not send it line by line. */
const marksPastes = { on: '\u001B[?2004h', off: '\u001B[?2004l' };

/** Completions of the line up to the cursor. Each text can replace `replaced`, which is the end of that line. */
export interface Completions {
  readonly texts: readonly string[];
  readonly replaced: string;
}

interface Waiting {
  readonly prompt: string;
  answer(line: string | null): void;
  /** Offers completions for a message; null for the answer to a question, which is not kept for the arrow keys. */
  readonly complete: ((line: string) => Promise<Completions>) | null;
}

export class LineReader {
  readonly #lines: Interface;
  readonly #typedAhead: string[] = [];
  readonly #interruptListeners = new Set<() => void>();
  readonly #io: CliIo;
  readonly #onKey = (_text: string | undefined, key: { readonly name?: string; readonly meta?: boolean }): void => this.#takeKey(key);
  #waiting: Waiting | null = null;
  #isClosed = false;
  #isPasting = false;
  /** The lines of a message before the one that is being typed. */
  #begun: string[] = [];
  /** The unsent text at the time an approval was asked. It continues with the next message. */
  #draft = '';

  private constructor(io: CliIo, createLines: (complete: (line: string) => Promise<Completions>) => Interface) {
    this.#io = io;
    const lines = createLines(async (line) => (await this.#waiting?.complete?.(line)) ?? { texts: [], replaced: line });
    this.#lines = lines;
    lines.on('line', (line) => this.#take(line));
    lines.on('history', (kept) => {
      const isAnswer = this.#waiting !== null && !this.#isMessage;
      const isPart = this.#isPasting || this.#begun.length > 0 || kept[0]?.endsWith('\\') === true;
      if (isAnswer || isPart) kept.shift();
    });
    const end = (): void => {
      this.#isClosed = true;
      this.#answer(null);
    };
    lines.on('close', end);
    // The input cannot be read, for example because the terminal was closed.
    lines.on('error', end);
    // In raw mode the terminal sends Ctrl-C as a key and not as a signal.
    lines.on('SIGINT', () => {
      if (this.#dropMessage()) return;
      for (const listener of this.#interruptListeners) listener();
    });
    if (!lines.terminal) return;
    io.stdin.on('keypress', this.#onKey);
    if (io.env['TERM'] !== 'dumb') io.stderr.write(marksPastes.on);
  }

  /** `history` has the newest message first. */
  static async open(io: CliIo, history: readonly string[] = []): Promise<LineReader> {
    const { createInterface } = await import('node:readline');
    return new LineReader(io, (complete) =>
      createInterface({
        input: io.stdin,
        output: io.stderr,
        terminal: io.stdinIsTty && 'setRawMode' in io.stdin,
        history: [...history],
        historySize: HISTORY_MAX,
        removeHistoryDuplicates: true,
        completer: callbackify(async (line: string): Promise<[string[], string]> => {
          const { texts, replaced } = await complete(line);
          return [[...texts], replaced];
        }),
      }),
    );
  }

  /** True if the person is typing, so that nothing should be drawn over it. */
  get isTyping(): boolean {
    return this.#lines.terminal && this.#lines.line !== '';
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
    return this.#ask(prompt, null, signal);
  }

  /** Like `ask`, for a message: it may have several lines, Tab completes it, and the arrow keys bring it back. */
  askMessage(prompt: string, complete: (line: string) => Promise<Completions>, signal: AbortSignal): Promise<string | null> {
    const asked = this.#ask(prompt, complete, signal);
    const draft = this.#draft;
    this.#draft = '';
    if (draft !== '' && this.#waiting !== null) this.#lines.write(draft);
    return asked;
  }

  #ask(prompt: string, complete: Waiting['complete'], signal?: AbortSignal): Promise<string | null> {
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
      const answer = (line: string | null): void => {
        signal?.removeEventListener('abort', giveUp);
        resolve(line);
      };
      this.#waiting = { prompt, answer, complete };
    });
  }

  /** Keeps unsent text for the next message. */
  forgetTypedAhead(): void {
    this.#typedAhead.length = 0;
    this.#begun = [];
    if (!this.isTyping) return;
    this.#draft = this.#lines.line;
    this.#clearLine();
  }

  close(): void {
    this.#io.stdin.off('keypress', this.#onKey);
    if (this.#lines.terminal && this.#io.env['TERM'] !== 'dumb') this.#io.stderr.write(marksPastes.off);
    this.#lines.close();
  }

  /** True while a message is asked for, and not the answer to a question. */
  get #isMessage(): boolean {
    return this.#waiting !== null && this.#waiting.complete !== null;
  }

  #takeKey({ name, meta }: { readonly name?: string; readonly meta?: boolean }): void {
    if (name === 'paste-start') this.#isPasting = true;
    else if (name === 'paste-end') this.#isPasting = false;
    else if (name === 'return' && meta === true && this.#isMessage) {
      this.#isPasting = true;
      this.#lines.write(null, { name: 'return' });
      this.#isPasting = false;
      this.#continue();
    }
  }

  #take(line: string): void {
    if (this.#isPasting) {
      this.#begun.push(line);
      return;
    }
    if (this.#isMessage && this.#lines.terminal && line.endsWith('\\')) {
      this.#begun.push(line.slice(0, -1));
      this.#continue();
      return;
    }
    const whole = [...this.#begun, line].join('\n');
    this.#begun = [];
    // An answer is often pasted with its line break.
    if (this.#waiting !== null) this.#answer(this.#isMessage ? whole : whole.replace(/\n+$/, ''));
    else if (this.#typedAhead.length < typedAheadMax) this.#typedAhead.push(whole);
  }

  #continue(): void {
    this.#lines.setPrompt(continued);
    this.#lines.prompt();
  }

  /** Ctrl-C drops the message that is being typed, if there is one. */
  #dropMessage(): boolean {
    if (this.#waiting === null || !this.#isMessage || (this.#begun.length === 0 && this.#lines.line === '')) return false;
    this.#begun = [];
    this.#clearLine();
    this.#io.stderr.write('\n');
    this.#lines.setPrompt(this.#waiting.prompt);
    this.#lines.prompt();
    return true;
  }

  #clearLine(): void {
    this.#lines.write(null, { ctrl: true, name: 'e' });
    this.#lines.write(null, { ctrl: true, name: 'u' });
  }

  #answer(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.answer(line);
  }
}
