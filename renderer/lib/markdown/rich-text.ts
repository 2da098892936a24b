// The tools that render an answer, created once for the window and passed down by context. Sanitizer and parser are not in the first load;
// the code that shows an answer loads them.

import { createContext } from 'svelte';
import type { Words } from '../i18n/words.ts';
import type { Diagrams } from './diagrams.svelte.ts';
import type { Formulas } from './formulas.ts';
import type { Highlighter } from './highlighter.ts';
import type { BlockSanitizer } from './sanitize.ts';

/** The parts that create markup for the page. */
export interface Purified {
  readonly sanitizer: BlockSanitizer;
  readonly formulas: Formulas;
}

export class RichText {
  readonly highlighter: Highlighter;
  readonly diagrams: Diagrams;
  readonly #words: () => Words;
  #purified: Purified | null = null;

  constructor(parts: { readonly highlighter: Highlighter; readonly diagrams: Diagrams; readonly words: () => Words }) {
    this.highlighter = parts.highlighter;
    this.diagrams = parts.diagrams;
    this.#words = parts.words;
  }

  /** Created once for the page, because a trusted types policy may not be created twice. */
  purified(create: (words: () => Words) => Purified): Purified {
    return (this.#purified ??= create(this.#words));
  }
}

export const [getRichText, setRichText] = createContext<RichText>();
