// The tools that render an answer, created once for the window with the first answer it shows. Sanitizer and parser are created by the code
// that shows markup.

import type { Words } from '../i18n/words.ts';
import { Diagrams } from './diagrams.svelte.ts';
import type { Formulas } from './formulas.ts';
import { WorkerHighlighter, type Highlighter } from './highlighter.ts';
import type { BlockSanitizer } from './sanitize.ts';
import { createCodeWorkerStarter } from './start-code-worker.ts';

/** The parts that create markup for the page. */
export interface Purified {
  readonly sanitizer: BlockSanitizer;
  readonly formulas: Formulas;
}

export class RichText {
  readonly highlighter: Highlighter = new WorkerHighlighter(createCodeWorkerStarter(window));
  readonly diagrams = new Diagrams(document);
  readonly #words: () => Words;
  #purified: Purified | null = null;

  constructor(words: () => Words) {
    this.#words = words;
  }

  /** Created once for the page, because a trusted types policy may not be created twice. */
  purified(create: (words: () => Words) => Purified): Purified {
    return (this.#purified ??= create(this.#words));
  }
}
