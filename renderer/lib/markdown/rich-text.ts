// The tools that render an answer, one of each for the window and passed down by context. The sanitizer and the parser are not in the first
// load: the part that shows an answer brings them.

import { createContext } from 'svelte';
import type { Words } from '../i18n/words.ts';
import type { Diagrams } from './diagrams.svelte.ts';
import type { Formulas } from './formulas.ts';
import type { Highlighter } from './highlighter.ts';
import type { BlockSanitizer } from './sanitize.ts';

/** The makers of markup for the page. */
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

  /** Made once for the page: a trusted types policy may not be made twice. */
  purified(create: (words: () => Words) => Purified): Purified {
    return (this.#purified ??= create(this.#words));
  }
}

export const [getRichText, setRichText] = createContext<RichText>();
