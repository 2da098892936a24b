// The window's language: its texts and its formats of numbers and times. English is the only catalogue; a second one is a file of `Words`,
// with the choice between the two made here.

import { createContext } from 'svelte';
import { english } from './english/english.ts';
import { Formats } from './formats.ts';
import type { Words } from './words.ts';

export interface Language {
  /** At first those the chat needs. */
  readonly words: Words;
  readonly format: Formats;
  /** Resolves when all texts are there: before anything is shown that is not in the first load. */
  whole(): Promise<void>;
}

/** English with British forms, for their twenty-four hour clock, which the log has too. */
export function createLanguage(): Language {
  const words: object = { ...english };
  let coming: Promise<void> | null = null;
  const load = async (): Promise<void> => {
    try {
      Object.assign(words, (await import('./english/later.ts')).later);
    } catch (cause) {
      coming = null;
      throw cause;
    }
  };
  return { words: words as Words, format: new Formats('en-GB', english.common), whole: () => (coming ??= load()) };
}

export const [getLanguage, setLanguage] = createContext<Language>();
