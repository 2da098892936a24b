// Checks the appearance of a page with axe's rules and saves pictures on request: wide and narrow, light and dark.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { isSoak } from '../../soak.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules whose result depends on the theme. */
export const colourRules = ['color-contrast', 'link-in-text-block'];

/**
 * Axe's findings in the page or a part of it; by default with all rules. Runs in the page itself: a separate page for each check, as axe's
 * own driver opens, costs more than the check.
 */
export async function violations(page: Page, { rules, within }: { rules?: readonly string[]; within?: string } = {}): Promise<string[]> {
  if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await addAxe(page);
  const options = { resultTypes: ['violations'], iframes: false, ...(rules === undefined ? {} : { runOnly: rules }) };
  const { violations: found } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(within ?? 'html')}, ${JSON.stringify(options)})`);
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

/** Over the browser's own protocol, and without its comments: the driver's way takes twice the time, and a page loads it again each time. */
async function addAxe(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: axeSource });
  await session.detach();
}

/** Saves a picture of the page if a folder is configured. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['TRAYCLAW_PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}

const looks = [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'dark', width: 1280 },
] as const;

/**
 * Checks the page light and dark, wide and narrow: no violations, and nothing wider than the window. Normally covers each theme and width
 * once; the long run covers all four combinations. `first` runs once the page has each look.
 */
export async function looksGood(page: Page, name: string, first?: () => Promise<unknown>): Promise<void> {
  for (const { colorScheme, width } of isSoak ? looks : looks.slice(0, 2)) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 900 });
    await first?.();
    await shoot(page, `${name}-${colorScheme}-${width}`);
    const found = await violations(page, colorScheme === 'light' ? {} : { rules: colourRules });
    expect({ name, colorScheme, width, found }).toEqual({ name, colorScheme, width, found: [] });
    expect(await page.locator('html').evaluate((root) => root.scrollWidth <= root.clientWidth)).toBe(true);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 1280, height: 800 });
}
