// What an answer is shown with, made once for the window and handed down by context: the sanitizer, formulas, colours of
// code, what diagrams share.

import { createContext } from 'svelte';
import type { Diagrams } from './diagrams.svelte.ts';
import type { Formulas } from './formulas.ts';
import type { Highlighter } from './highlighter.ts';
import type { BlockSanitizer } from './sanitize.ts';

export interface RichText {
  readonly sanitizer: BlockSanitizer;
  readonly formulas: Formulas;
  readonly highlighter: Highlighter;
  readonly diagrams: Diagrams;
}

export const [getRichText, setRichText] = createContext<RichText>();
