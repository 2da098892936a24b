// Separates a thought that a server sends at the beginning of the answer, between <think> and </think>, from the text as both arrive. Seen
// on LM Studio, llama.cpp, vLLM and MLX without a parser for the model.

const OPENS = '<think>';
const CLOSES = '</think>';

export class InlineThought {
  #part: 'begin' | 'thought' | 'gap' | 'text' = 'begin';
  #held = '';

  /** Held back because it may be part of a tag; if nothing follows, it belongs to the thought or to the text. */
  get held(): { readonly thought: string; readonly text: string } {
    const [thought, text] = [this.#part === 'thought' ? this.#held : '', this.#part === 'begin' ? this.#held : ''];
    return { thought, text };
  }

  /** True once everything that follows is the answer. */
  get isOver(): boolean {
    return this.#part === 'text';
  }

  /** Returns the new part of the thought and of the text. */
  add(piece: string): { readonly thought: string; readonly text: string } {
    this.#held += piece;
    if (this.#part === 'begin') this.#begin();
    const thought = this.#part === 'thought' ? this.#think() : '';
    if (this.#part === 'gap' && this.#held.trim() !== '') {
      this.#part = 'text';
      this.#held = this.#held.trimStart();
    }
    return { thought, text: this.#part === 'text' ? this.#take(this.#held.length) : '' };
  }

  #begin(): void {
    const begun = this.#held.trimStart();
    if (begun.startsWith(OPENS)) {
      this.#part = 'thought';
      this.#held = begun.slice(OPENS.length);
    } else if (!OPENS.startsWith(begun)) this.#part = 'text';
  }

  #think(): string {
    const end = this.#held.indexOf(CLOSES);
    if (end < 0) return this.#take(this.#held.length - beginningOf(CLOSES, this.#held));
    const thought = this.#take(end);
    this.#take(CLOSES.length);
    this.#part = 'gap';
    return thought;
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return taken;
  }
}

/** The number of characters at the end of `text` that are the beginning of the tag. */
function beginningOf(mark: string, text: string): number {
  let length = Math.min(mark.length - 1, text.length);
  while (length > 0 && !text.endsWith(mark.slice(0, length))) length -= 1;
  return length;
}
