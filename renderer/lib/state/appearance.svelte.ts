// How the window looks, as the person chose or as the system says: light or dark, contrast, density, language, and whether single
// characters are keys. Kept in this browser, the only thing the window keeps beyond its tab.

import { createContext } from 'svelte';
import { languageNames, languageOf, type Language, type LanguageChoice, type LanguageTag } from '../i18n/language.svelte.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const languageChoices: readonly LanguageChoice[] = ['system', ...(Object.keys(languageNames) as LanguageTag[])];

const wantsMore = '(prefers-contrast: more)';

/** What is needed of a page; `window` is one. */
export interface AppearanceTarget {
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly document: { readonly documentElement: { readonly dataset: Record<string, string | undefined>; lang: string } };
  readonly navigator: { readonly languages: readonly string[] };
  matchMedia(query: string): { readonly matches: boolean; addEventListener(type: 'change', listener: () => void): void };
}

export class Appearance {
  theme = $state<Theme>('system');
  /** Chosen here; what the system asks for comes on top. */
  hasMoreContrast = $state(false);
  isCompact = $state(false);
  languageChoice = $state<LanguageChoice>('system');
  /** Off for whoever speaks to the machine, or whose hand slips: a lone character then does nothing. */
  hasSingleKeys = $state(true);
  readonly #target: AppearanceTarget;
  readonly #language: Language;

  constructor(target: AppearanceTarget, language: Language) {
    this.#target = target;
    this.#language = language;
    this.theme = this.#kept('theme', themes);
    this.hasMoreContrast = this.#kept('contrast', ['more']) === 'more';
    this.isCompact = this.#kept('density', ['compact']) === 'compact';
    this.hasSingleKeys = this.#kept('singleKeys', ['off']) !== 'off';
    this.languageChoice = this.#kept('language', languageChoices);
  }

  /** What was chosen, and what the system says from now on where nothing was. Resolves once the words are there. */
  follow(): Promise<void> {
    this.#show('theme', this.theme);
    this.#show('density', this.isCompact ? 'compact' : 'system');
    this.#showContrast();
    this.#target.matchMedia(wantsMore).addEventListener('change', () => this.#showContrast());
    // English, which is there already, where the words do not come.
    return this.#speak(this.languageChoice).catch(() => undefined);
  }

  chooseTheme(theme: Theme): void {
    this.theme = theme;
    this.#keep('theme', theme);
    this.#show('theme', theme);
  }

  chooseContrast(hasMore: boolean): void {
    this.hasMoreContrast = hasMore;
    this.#keep('contrast', hasMore ? 'more' : 'system');
    this.#showContrast();
  }

  chooseDensity(isCompact: boolean): void {
    this.isCompact = isCompact;
    this.#keep('density', isCompact ? 'compact' : 'system');
    this.#show('density', isCompact ? 'compact' : 'system');
  }

  chooseSingleKeys(has: boolean): void {
    this.hasSingleKeys = has;
    this.#keep('singleKeys', has ? 'system' : 'off');
  }

  /** Rejects when the words of that language cannot be loaded; what held stays. */
  async chooseLanguage(choice: LanguageChoice): Promise<void> {
    await this.#speak(choice);
    this.languageChoice = choice;
    this.#keep('language', choice);
  }

  async #speak(choice: LanguageChoice): Promise<void> {
    await this.#language.show(languageOf(choice, this.#target.navigator.languages));
    this.#target.document.documentElement.lang = this.#language.tag;
  }

  #showContrast(): void {
    const isMore = this.hasMoreContrast || this.#target.matchMedia(wantsMore).matches;
    this.#show('contrast', isMore ? 'more' : 'system');
  }

  #show(name: string, value: string): void {
    const { dataset } = this.#target.document.documentElement;
    if (value === 'system') delete dataset[name];
    else dataset[name] = value;
  }

  #kept<T extends string>(name: string, known: readonly T[]): T | 'system' {
    const value = this.#target.localStorage.getItem(`trayclaw.${name}`);
    return known.find((candidate) => candidate === value) ?? 'system';
  }

  #keep(name: string, value: string): void {
    if (value === 'system') this.#target.localStorage.removeItem(`trayclaw.${name}`);
    else this.#target.localStorage.setItem(`trayclaw.${name}`, value);
  }
}

export const [getAppearance, setAppearance] = createContext<Appearance>();
