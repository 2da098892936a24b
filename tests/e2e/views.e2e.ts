// The look of every view and dialog: each is compared with a reviewed picture (light, dark, narrow, wide and compact) and checked with axe
// in several looks; an ordinary run covers some of them. The pictures in tests/e2e/baselines are of Debian's Chromium;
// TRAYCLAW_BASELINES=write replaces them.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSoak } from '../soak.ts';
import { colourRules, violations } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';
import { compare, decodePng, shrink, writePng, type Comparison, type Picture } from './driver/picture.ts';
import { placeOptions, visitPlaces, type Place } from './driver/places.ts';
import { stillScript } from './driver/still.ts';

const baselines = fileURLToPath(new URL('baselines/', import.meta.url));
const results = fileURLToPath(new URL('../../test-results/', import.meta.url));
const isWriting = process.env['TRAYCLAW_BASELINES'] === 'write';
/** The share of cells that may differ: about a few other words. A panel that moves by its own padding changes more. */
const differingMax = 0.006;

let browser: Browser;
beforeAll(async () => {
  mkdirSync(baselines, { recursive: true });
  mkdirSync(results, { recursive: true });
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const looks = [
  { name: 'wide', width: 1920, height: 1080, colorScheme: 'light' },
  { name: 'light', width: 1280, height: 800, colorScheme: 'light' },
  { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
  { name: 'narrow', width: 360, height: 740, colorScheme: 'light' },
] as const;

async function take(page: Page): Promise<Picture> {
  // The scroll position after a resize is not tested here.
  await page.evaluate("for (const log of document.querySelectorAll('[role=log]')) log.scrollTop = log.scrollHeight");
  return shrink(decodePng(await page.screenshot({ animations: 'disabled' })));
}

const isNoticed = ({ share, hasBlock }: Comparison): boolean => share > differingMax || hasBlock;

/**
 * Retries after 0.1, 0.2, 0.4, 0.8 and 1.6 s: on a busy machine the last data of a view may arrive after the text that its place waits for.
 */
async function takeSettled(page: Page, baseline: Picture): Promise<{ readonly picture: Picture; readonly comparison: Comparison }> {
  for (let waitMs = 100; ; waitMs *= 2) {
    const picture = await take(page);
    const comparison = compare(baseline, picture);
    if (!isNoticed(comparison) || waitMs > 1600) return { picture, comparison };
    await page.waitForTimeout(waitMs);
  }
}

/** Compares the page with its stored picture; saves the actual picture in test-results if too much differs. */
async function hold(name: string, page: Page): Promise<string[]> {
  const file = `${baselines}${name}.png`;
  if (isWriting) {
    writeFileSync(file, writePng(await take(page)));
    return [];
  }
  if (!existsSync(file)) return [`${name}: there is no picture of it yet`];
  const { picture, comparison } = await takeSettled(page, decodePng(readFileSync(file)));
  if (!isNoticed(comparison)) return [];
  const { share, marked } = comparison;
  writeFileSync(`${results}view-${name}-seen.png`, writePng(picture));
  writeFileSync(`${results}view-${name}-marked.png`, writePng(marked));
  return [`${name}: ${(share * 100).toFixed(2)} % differs`];
}

const fileName = (place: string, look: string): string => `${place} ${look}`.toLowerCase().replaceAll(' ', '-');

/** The looks in which a place is compared with its picture: two of them and one of the others in turn; all of them in the long run. */
function picturedLooks(index: number): ReadonlySet<string> {
  const others = ['dark', 'wide', 'compact'];
  return new Set(['light', 'narrow', ...others.filter((_, at) => isSoak || isWriting || at === index % others.length)]);
}

/** The looks in which a place is checked with axe: the default one and one of the others in turn; all of them in the long run. */
function judgedLooks(index: number): ReadonlySet<string> {
  const others = ['dark', 'narrow', 'more contrast'];
  return new Set(['light', ...others.filter((_, at) => isSoak || at === index % others.length)]);
}

async function judge(page: Page, place: string, rules: readonly string[] | null): Promise<string[]> {
  return (await violations(page, rules === null ? {} : { rules })).map((found) => `${place}: ${found}`);
}

async function judgeMoreContrast(page: Page, name: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, contrast: 'more' });
    wrong.push(...(await judge(page, `${name}, more contrast, ${colorScheme}`, colourRules)));
  }
  await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' });
  return wrong;
}

/** Text for approval must be readable in both themes. */
async function judgeApprovalText(page: Page): Promise<string[]> {
  const wrong: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    const found = await violations(page, { within: '[aria-label="Approval needed"]', rules: ['color-contrast-enhanced'] });
    wrong.push(...found.map((one) => `approval, AAA, ${colorScheme}: ${one}`));
  }
  return wrong;
}

async function holdInAllLooks(window: WindowUnderTest, { name, onNarrow, isDialog }: Place, index: number): Promise<string[]> {
  const { page } = window;
  const wrong: string[] = [];
  const judged = judgedLooks(index);
  const pictured = picturedLooks(index);
  for (const { name: look, width, height, colorScheme } of looks) {
    if (!pictured.has(look) && !judged.has(look)) continue;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    if (look === 'narrow') await onNarrow?.();
    if (pictured.has(look)) wrong.push(...(await hold(fileName(name, look), page)));
    if (judged.has(look)) wrong.push(...(await judge(page, `${name}, ${look}`, colorScheme === 'dark' ? colourRules : null)));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  if (judged.has('more contrast')) wrong.push(...(await judgeMoreContrast(page, name)));
  if (name === 'approval') wrong.push(...(await judgeApprovalText(page)));
  if (isDialog || !pictured.has('compact')) return wrong;
  await page.evaluate("document.documentElement.dataset.density = 'compact'");
  wrong.push(...(await hold(fileName(name, 'compact'), page)));
  await page.evaluate('delete document.documentElement.dataset.density');
  return wrong;
}

test('every view and dialog looks unchanged, and axe finds nothing', { timeout: 600_000 }, async () => {
  const window = await openWindow(browser, { ...placeOptions, initScript: stillScript });
  const wrong: string[] = [];
  let count = 0;
  await visitPlaces(window, async (place) => {
    wrong.push(...(await holdInAllLooks(window, place, count)));
    count += 1;
  });
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThanOrEqual(13);
  expect(window.incidents).toEqual([]);
});

test('a moved panel, a missing button and a changed colour are detected', async () => {
  const window = await openWindow(browser, { initScript: stillScript, historyTurns: 2, context: { reducedMotion: 'reduce' } });
  const { page } = window;
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
  await page.getByText('$0.00 of $10.00 today').waitFor();
  const before = await take(page);
  expect(compare(before, await take(page)).share).toBe(0);
  const changes = {
    'a wider list': [
      "document.documentElement.style.setProperty('--list', '280px')",
      "document.documentElement.style.removeProperty('--list')",
    ],
    'a header that is higher': [
      "document.documentElement.style.setProperty('--header', '60px')",
      "document.documentElement.style.removeProperty('--header')",
    ],
    'no Send': [
      "document.querySelector('button[type=submit]').hidden = true",
      "document.querySelector('button[type=submit]').hidden = false",
    ],
    'other colours': ["document.documentElement.dataset.contrast = 'more'", 'delete document.documentElement.dataset.contrast'],
  } as const;
  for (const [name, [change, back]] of Object.entries(changes)) {
    await page.evaluate(change);
    expect({ name, isNoticed: isNoticed(compare(before, await take(page))) }).toEqual({ name, isNoticed: true });
    await page.evaluate(back);
    expect({ name, share: compare(before, await take(page)).share }).toEqual({ name, share: 0 });
  }
});
