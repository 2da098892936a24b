// Streams a command's output in few pieces of bounded size, at most one per interval. May skip output, but never cuts inside a secret,
// because the rest of it could no longer be recognised.

import type { ToolContext } from '../../contracts/tools.ts';

const PAUSE_MS = 50;
const PIECE_CHARS_MAX = 16_000;
/** Kept for the check before a cut: a secret that begins before this part does not reach the shown part. */
const PENDING_CHARS_MAX = 3 * PIECE_CHARS_MAX;

export class LiveOutput {
  readonly #context: Pick<ToolContext, 'onOutput' | 'redaction'>;
  readonly #decoder = new TextDecoder();
  #pending = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(context: Pick<ToolContext, 'onOutput' | 'redaction'>) {
    this.#context = context;
  }

  push(bytes: Buffer): void {
    this.#pending = (this.#pending + this.#decoder.decode(bytes, { stream: true })).slice(-PENDING_CHARS_MAX);
    if (this.#pending !== '') this.#timer ??= setTimeout(() => this.#flush(), PAUSE_MS);
  }

  /** Sends the rest at once. */
  end(): void {
    this.#pending += this.#decoder.decode();
    this.#flush();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const chunk = this.#pending;
    this.#pending = '';
    if (chunk !== '') this.#context.onOutput(chunk.length <= PIECE_CHARS_MAX ? chunk : this.#newest(chunk));
  }

  #newest(text: string): string {
    return `…${(this.#context.redaction?.redact(text) ?? text).slice(-PIECE_CHARS_MAX)}`;
  }
}
