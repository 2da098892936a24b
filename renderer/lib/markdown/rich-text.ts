// The tools that render an answer, created once for the window and passed down by context: the sanitizer, formulas, code highlighting,
// shared diagram state.

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
