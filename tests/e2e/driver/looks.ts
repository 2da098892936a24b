// How a page looks: held to axe's rules, kept as a picture where somebody wants to see it, wide and narrow, light and dark.

import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** All that another theme can change. */
export const colourRules = ['color-contrast', 'link-in-text-block'];

/** What axe finds wrong with the page as it is, or with a part of it; all of its rules unless told. */
export async function violations(page: Page, { rules, within }: { rules?: readonly string[]; within?: string } = {}): Promise<string[]> {
  const builder = new AxeBuilder({ page });
  if (within !== undefined) builder.include(within);
  if (rules !== undefined) builder.withRules([...rules]);
  const { violations: found } = await builder.analyze();
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Where a folder is named, every look is kept there as a picture. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['TRAYCLAW_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}

/** Light and dark, wide and narrow: nothing wrong, nothing wider than the window. `first` comes once the page has each of these looks. */
export async function looksGood(page: Page, name: string, first?: () => Promise<unknown>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 360]) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.setViewportSize({ width, height: 900 });
      await first?.();
      await shoot(page, `${name}-${colorScheme}-${width}`);
      const found = await violations(page, colorScheme === 'light' ? {} : { rules: colourRules });
      expect({ name, colorScheme, width, found }).toEqual({ name, colorScheme, width, found: [] });
      expect(await page.locator('html').evaluate((root) => root.scrollWidth <= root.clientWidth)).toBe(true);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}
