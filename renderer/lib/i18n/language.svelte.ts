// The language of the window: its words and its forms of numbers and times. English is there from the start, others come when chosen.

import { createContext } from 'svelte';
import { english } from './english/english.ts';
import { Formats } from './formats.ts';
import type { Words } from './words.ts';

/** Each language by its own name. */
export const languageNames = { en: 'English', de: 'Deutsch' } as const;
export type LanguageTag = keyof typeof languageNames;
export type LanguageChoice = LanguageTag | 'system';

/** For numbers and times. English takes the twenty-four hour clock, as the log does. */
const locales: Readonly<Record<LanguageTag, string>> = { en: 'en-GB', de: 'de-DE' };
const loaders: Readonly<Record<Exclude<LanguageTag, 'en'>, () => Promise<Words>>> = {
  de: async () => (await import('./german/german.ts')).german,
};

export class Language {
  tag = $state<LanguageTag>('en');
  words = $state.raw<Words>(english);
  /** Follows `words`, so that what shows a number is drawn anew with it. */
  readonly format = $derived(new Formats(locales[this.tag], this.words.common));
  #asked: LanguageTag = 'en';

  /** Rejects when the words cannot be loaded; what was shown stays. */
  async show(tag: LanguageTag): Promise<void> {
    this.#asked = tag;
    const words = tag === 'en' ? english : await loaders[tag]();
    // The one asked for last wins, in whichever order they come.
    if (this.#asked !== tag) return;
    this.words = words;
    this.tag = tag;
  }
}

/** The first of the person's languages that there is; English where none is. */
export function languageOf(choice: LanguageChoice, wanted: readonly string[]): LanguageTag {
  if (choice !== 'system') return choice;
  const tags = wanted.map((tag) => tag.toLowerCase().split('-')[0]);
  return tags.find((tag): tag is LanguageTag => tag !== undefined && tag in languageNames) ?? 'en';
}

export const [getLanguage, setLanguage] = createContext<Language>();
