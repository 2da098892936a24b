// Recall of earlier messages, as in a shell: up to earlier lines, down to later ones and to the empty line. Pure, except for its position.

export class WrittenLines {
  #at: number | null = null;
  #shown = '';

  /** The previous line; null if the keys mean something else, or there is none. */
  earlier(lines: readonly string[], typed: string): string | null {
    if (!this.#isOn(typed) && typed !== '') return null;
    const at = (this.#isOn(typed) && this.#at !== null ? this.#at : lines.length) - 1;
    return this.#show(lines, at);
  }

  /** The next line; empty after the last. */
  later(lines: readonly string[], typed: string): string | null {
    if (!this.#isOn(typed) || this.#at === null) return null;
    return this.#at + 1 >= lines.length ? this.#leave() : this.#show(lines, this.#at + 1);
  }

  #isOn(typed: string): boolean {
    return this.#at !== null && typed === this.#shown;
  }

  #show(lines: readonly string[], at: number): string | null {
    const line = lines[at];
    if (line === undefined) return null;
    this.#at = at;
    this.#shown = line;
    return line;
  }

  #leave(): string {
    this.#at = null;
    this.#shown = '';
    return '';
  }
}
