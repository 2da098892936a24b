// Splits text that arrives in chunks into lines. LF, CR LF and CR each end a line. Pure.

export class TextLines {
  readonly #charsMax: number;
  readonly #tooLong: () => Error;
  /** The beginning of the current line. Only appended to and never searched, so a line in many chunks costs no more than in one. */
  #line = '';
  #skipsLf = false;

  /** `push` throws the error for a line of more than `charsMax` characters. */
  constructor(charsMax: number, tooLong: () => Error) {
    this.#charsMax = charsMax;
    this.#tooLong = tooLong;
  }

  /** Yields the lines that the chunk completes. It may end anywhere, even between CR and LF. */
  *push(chunk: string): Generator<string, void> {
    if (chunk === '') return;
    const lines = (this.#skipsLf && chunk.startsWith('\n') ? chunk.slice(1) : chunk).split(/\r\n|\n|\r/);
    this.#skipsLf = chunk.endsWith('\r');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#keep(line);
      yield this.end();
    }
    this.#keep(rest);
  }

  /** Returns the current line, which the end of the text completes. */
  end(): string {
    const line = this.#line;
    this.#line = '';
    return line;
  }

  #keep(piece: string): void {
    this.#line += piece;
    if (this.#line.length > this.#charsMax) throw this.#tooLong();
  }
}
