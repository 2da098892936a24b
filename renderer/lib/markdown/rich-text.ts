// The tools that render an answer, created once for the window on first use and passed down by context. None of them is in the first load:
// the code that shows an answer brings them.

import { createContext } from 'svelte';
import type { Words } from '../i18n/words.ts';
import type { Diagrams } from './diagrams.svelte.ts';
import type { Formulas } from './formulas.ts';
import type { Highlighter } from './highlighter.ts';
import type { BlockSanitizer } from './sanitize.ts';

export interface MarkupTools {
  readonly highlighter: Highlighter;
  readonly diagrams: Diagrams;
  readonly sanitizer: BlockSanitizer;
  readonly formulas: Formulas;
}

export type CreateMarkupTools = (words: () => Words) => MarkupTools;

export const [getRichText, setRichText] = createContext<(create: CreateMarkupTools) => MarkupTools>();

/** Created once for the page, because a trusted types policy may not be created twice. */
export function markupToolsOf(words: () => Words): (create: CreateMarkupTools) => MarkupTools {
  let tools: MarkupTools | null = null;
  return (create) => (tools ??= create(words));
}
