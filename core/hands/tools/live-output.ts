// Streams a command's output in few pieces: at most one in each pause, each of bounded size. May skip.

const PAUSE_MS = 50;
const PIECE_CHARS_MAX = 16_000;

export class LiveOutput {
  readonly #send: (chunk: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = '';
  #timer: NodeJS.Timeout | null = null;

  constructor(send: (chunk: string) => void) {
    this.#send = send;
  }

  push(bytes: Buffer): void {
    const text = this.#pending + this.#decoder.decode(bytes, { stream: true });
    this.#pending = text.length <= PIECE_CHARS_MAX ? text : `…${text.slice(-PIECE_CHARS_MAX)}`;
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
    if (chunk !== '') this.#send(chunk);
  }
}
