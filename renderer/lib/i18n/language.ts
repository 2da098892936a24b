// The window's language: its texts and its formats of numbers and times. English is the only catalogue; a second one is a file of `Words`,
// with the choice between the two made here.

import { createContext } from 'svelte';
import { english } from './english/english.ts';
import { Formats } from './formats.ts';
import type { Words } from './words.ts';

export interface Language {
  readonly words: Words;
  readonly format: Formats;
}

/** English with British forms, for their twenty-four hour clock, which the log has too. */
export function createLanguage(): Language {
  return { words: english, format: new Formats('en-GB', english.common) };
}

export const [getLanguage, setLanguage] = createContext<Language>();
