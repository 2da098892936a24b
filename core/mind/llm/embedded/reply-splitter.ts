// Splits streamed model output into reasoning, text, and the place where a tool call begins. Holds back text that may become a tag. Knows
// nothing about tokens.

import { callOpening } from '../calls-in-text.ts';

const thinkOpening = '<think>';
export const thinkClosing = '</think>';

export interface Split {
  readonly text: string;
  readonly reasoning: string;
  /** The offset of the call's opening tag in everything that was pushed; null if there is none. Text after it is left out. */
  readonly callAt: number | null;
}

export class ReplySplitter {
  readonly #findsCalls: boolean;
  #isThinking: boolean;
  #isFirst = true;
  #held = '';
  /** The number of characters that were passed on or dropped. */
  #passed = 0;

  constructor(options: { readonly findsCalls: boolean; readonly isThinking: boolean }) {
    this.#findsCalls = options.findsCalls;
    this.#isThinking = options.isThinking;
  }

  push(piece: string): Split {
    this.#held += piece;
    let text = '';
    let reasoning = '';
    for (;;) {
      const mark = this.#nextMark();
      if (mark === null) break;
      const before = this.#take(mark.at);
      if (this.#isThinking) reasoning += before;
      else text += before;
      if (mark.word === callOpening) return { text, reasoning, callAt: this.#passed };
      this.#take(mark.word.length);
      this.#isThinking = mark.word === thinkOpening;
      // The line breaks around reasoning come from the template.
      this.#isFirst = true;
    }
    const ready = this.#take(this.#held.length - this.#heldBack());
    if (this.#isThinking) reasoning += ready;
    else text += ready;
    return { text, reasoning, callAt: null };
  }

  /** Ends the input: held text is plain text. */
  end(): Split {
    const rest = this.#take(this.#held.length);
    return this.#isThinking ? { text: '', reasoning: rest, callAt: null } : { text: rest, reasoning: '', callAt: null };
  }

  #nextMark(): { readonly at: number; readonly word: string } | null {
    const found = this.#marks()
      .map((word) => ({ word, at: this.#held.indexOf(word) }))
      .filter(({ at, word }) => at >= 0 && (word !== thinkOpening || this.#held.slice(0, at).trim() === ''));
    return found.sort((a, b) => a.at - b.at)[0] ?? null;
  }

  /** Reasoning is recognised only at the beginning; later the same tag is text. */
  #marks(): string[] {
    if (this.#isThinking) return [thinkClosing];
    return [...(this.#isFirst ? [thinkOpening] : []), ...(this.#findsCalls ? [callOpening] : [])];
  }

  #heldBack(): number {
    const longest = Math.max(0, ...this.#marks().map((word) => overlap(this.#held, word)));
    // White space before the first word may come from the template.
    return this.#isFirst && this.#held.trim() === '' ? this.#held.length : longest;
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#passed += taken.length;
    if (!this.#isFirst || taken.trim() === '') return this.#isFirst ? '' : taken;
    this.#isFirst = false;
    return taken.trimStart();
  }
}

/** The number of characters at the end of `text` that are the beginning of `word`. */
function overlap(text: string, word: string): number {
  for (let length = Math.min(text.length, word.length - 1); length > 0; length--) if (text.endsWith(word.slice(0, length))) return length;
  return 0;
}
