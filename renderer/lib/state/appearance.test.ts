// What was chosen is shown, kept and found again; the system's wish for contrast counts as well, and follows it.

import { expect, test } from 'vitest';
import { Language } from '../i18n/language.svelte.ts';
import { Appearance, type AppearanceTarget } from './appearance.svelte.ts';

class FakePage implements AppearanceTarget {
  readonly kept = new Map<string, string>();
  readonly document = { documentElement: { dataset: {} as Record<string, string | undefined>, lang: 'en' } };
  readonly navigator = { languages: ['de-CH', 'en'] };
  wantsMore = false;
  #listeners: (() => void)[] = [];

  readonly localStorage = {
    getItem: (key: string): string | null => this.kept.get(key) ?? null,
    setItem: (key: string, value: string): void => void this.kept.set(key, value),
    removeItem: (key: string): void => void this.kept.delete(key),
  };

  matchMedia(): { matches: boolean; addEventListener(type: 'change', listener: () => void): void } {
    return { matches: this.wantsMore, addEventListener: (_type, listener) => void this.#listeners.push(listener) };
  }

  systemWants(more: boolean): void {
    this.wantsMore = more;
    for (const listener of this.#listeners) listener();
  }
}

test('choices are shown at once, kept, and found by the next window; the usual ones leave no trace', async () => {
  const page = new FakePage();
  const appearance = new Appearance(page, new Language());
  appearance.chooseTheme('dark');
  appearance.chooseContrast(true);
  appearance.chooseDensity(true);
  appearance.chooseSingleKeys(false);
  await appearance.chooseLanguage('de');
  const { documentElement } = page.document;
  expect(documentElement).toEqual({ dataset: { theme: 'dark', contrast: 'more', density: 'compact' }, lang: 'de' });

  const next = new Appearance(page, new Language());
  expect([next.theme, next.hasMoreContrast, next.isCompact, next.hasSingleKeys, next.languageChoice]).toEqual([
    'dark',
    true,
    true,
    false,
    'de',
  ]);
  next.chooseTheme('system');
  next.chooseContrast(false);
  next.chooseDensity(false);
  next.chooseSingleKeys(true);
  await next.chooseLanguage('system');
  expect([page.kept.size, documentElement.dataset]).toEqual([0, {}]);
});

test('without a choice the system decides: its languages, and its contrast also later', async () => {
  const page = new FakePage();
  const language = new Language();
  const appearance = new Appearance(page, language);
  await appearance.follow();
  expect([page.document.documentElement.lang, language.tag]).toEqual(['de', 'de']);
  page.systemWants(true);
  expect(page.document.documentElement.dataset).toEqual({ contrast: 'more' });
  page.systemWants(false);
  expect(page.document.documentElement.dataset).toEqual({});
});

test('a value that nobody offers is as none', () => {
  const page = new FakePage();
  page.kept.set('trayclaw.theme', 'pink').set('trayclaw.language', '__proto__');
  const appearance = new Appearance(page, new Language());
  expect([appearance.theme, appearance.languageChoice]).toEqual(['system', 'system']);
});
