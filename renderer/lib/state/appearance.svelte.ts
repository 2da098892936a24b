// The look of the window, chosen by the person or the system: light or dark, contrast, density, and single-letter keys. Stored in this
// browser, the only data the window keeps longer than its tab.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const wantsMore = '(prefers-contrast: more)';

/** The part of a page used here; `window` is one. */
export interface AppearanceTarget {
  readonly localStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;
  readonly document: { readonly documentElement: { readonly dataset: Record<string, string | undefined> } };
  matchMedia(query: string): { readonly matches: boolean; addEventListener(type: 'change', listener: () => void): void };
}

export class Appearance {
  theme = $state<Theme>('system');
  /** Chosen here; a request of the system has the same effect. */
  hasMoreContrast = $state(false);
  isCompact = $state(false);
  /** Off for people who use speech input or press keys by accident: single characters then do nothing. */
  hasSingleKeys = $state(true);
  readonly #target: AppearanceTarget;

  constructor(target: AppearanceTarget) {
    this.#target = target;
    this.theme = this.#kept('theme', themes);
    this.hasMoreContrast = this.#kept('contrast', ['more']) === 'more';
    this.isCompact = this.#kept('density', ['compact']) === 'compact';
    this.hasSingleKeys = this.#kept('singleKeys', ['off']) !== 'off';
  }

  /** Applies the person's choices, and follows the system for the rest. */
  follow(): void {
    this.#show('theme', this.theme);
    this.#show('density', this.isCompact ? 'compact' : 'system');
    this.#showContrast();
    this.#target.matchMedia(wantsMore).addEventListener('change', () => this.#showContrast());
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
