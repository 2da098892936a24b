// A text that grows by many small pieces. Plain concatenation would cost each piece many times its size until the whole is first read; here
// the newest pieces are regularly joined into one flat text.

const FLAT_CHARS = 16_384;

export class GrowingText {
  #whole = '';
  #newest = '';

  add(piece: string): void {
    this.#newest += piece;
    if (this.#newest.length < FLAT_CHARS) return;
    // Asking for a character makes the engine write the pieces out as one.
    this.#newest.charCodeAt(0);
    this.#whole += this.#newest;
    this.#newest = '';
  }

  get length(): number {
    return this.#whole.length + this.#newest.length;
  }

  toString(): string {
    return this.#whole + this.#newest;
  }
}
