// The person's choice is applied, stored and restored; the system's contrast setting is followed as well.

import { expect, test } from 'vitest';
import { Appearance, type AppearanceTarget } from './appearance.svelte.ts';

class FakePage implements AppearanceTarget {
  readonly kept = new Map<string, string>();
  readonly document = { documentElement: { dataset: {} as Record<string, string | undefined> } };
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

test('choices are shown at once, kept, and found by the next window; the usual ones leave no trace', () => {
  const page = new FakePage();
  const appearance = new Appearance(page);
  appearance.chooseTheme('dark');
  appearance.chooseContrast(true);
  appearance.chooseDensity(true);
  appearance.chooseSingleKeys(false);
  const { documentElement } = page.document;
  expect(documentElement).toEqual({ dataset: { theme: 'dark', contrast: 'more', density: 'compact' } });

  const next = new Appearance(page);
  expect([next.theme, next.hasMoreContrast, next.isCompact, next.hasSingleKeys]).toEqual(['dark', true, true, false]);
  next.chooseTheme('system');
  next.chooseContrast(false);
  next.chooseDensity(false);
  next.chooseSingleKeys(true);
  expect([page.kept.size, documentElement.dataset]).toEqual([0, {}]);
});

test('without a choice the contrast follows the system, also later', () => {
  const page = new FakePage();
  new Appearance(page).follow();
  page.systemWants(true);
  expect(page.document.documentElement.dataset).toEqual({ contrast: 'more' });
  page.systemWants(false);
  expect(page.document.documentElement.dataset).toEqual({});
});

test('an unknown stored value is ignored, and so is a language stored by an older version', () => {
  const page = new FakePage();
  page.kept.set('trayclaw.theme', 'pink').set('trayclaw.density', '__proto__').set('trayclaw.language', 'de');
  const appearance = new Appearance(page);
  appearance.follow();
  expect([appearance.theme, appearance.isCompact]).toEqual(['system', false]);
  expect(page.document.documentElement.dataset).toEqual({});
});
