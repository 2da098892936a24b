// A text that grows by many small pieces. With plain concatenation, each piece would cost many times its size until the whole is first
// read. Here the newest pieces are regularly joined into one flat text.

const FLAT_CHARS = 16_384;

export class GrowingText {
  #whole = '';
  #newest = '';

  add(piece: string): void {
    this.#newest += piece;
    if (this.#newest.length < FLAT_CHARS) return;
    // Reading a character makes the engine flatten the pieces.
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
