// Colours that carry a meaning: they differ enough in light and dark, and remain in forced colours.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** The background colours of the elements as red, green and blue. Source text: this file is checked without the types of a browser. */
const coloursOf = (page: Page, selector: string): Promise<number[][]> =>
  page.evaluate<number[][]>(`(() => {
    const context = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    return [...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = getComputedStyle(element).backgroundColor;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    });
  })()`);

/** As an eye sees it, from 0 to about 1: in the space of OKLab. */
function distance(a: readonly number[], b: readonly number[]): number {
  const lab = (colour: readonly number[]): number[] => {
    const [r = 0, g = 0, bl = 0] = colour.map((part) =>
      part / 255 <= 0.040_45 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    const l = Math.cbrt(0.412_2 * r + 0.536_3 * g + 0.051_4 * bl);
    const m = Math.cbrt(0.211_9 * r + 0.680_7 * g + 0.107_4 * bl);
    const s = Math.cbrt(0.088_3 * r + 0.281_7 * g + 0.630_0 * bl);
    return [0.210_5 * l + 0.793_6 * m - 0.004_1 * s, 1.978 * l - 2.428_6 * m + 0.450_6 * s, 0.025_9 * l + 0.782_8 * m - 0.808_7 * s];
  };
  const [one, other] = [lab(a), lab(b)];
  return Math.hypot(...one.map((part, at) => part - (other[at] ?? 0)));
}

const sections = ['system', 'identity', 'rules', 'task', 'messages', 'about_material', 'project', 'memory', 'knowledge'];
const more = ['skill_cards', 'skill_excerpt', 'approvals', 'tools'];

test('neighbouring parts of the drawn context differ in colour, in light and dark', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Two eggs.' }] });
  const { page } = window;
  await page.route('**/api/ops/pack.get', async (route) => {
    const answer = await route.fetch();
    const pack = (await answer.json()) as { value: Record<string, unknown> };
    // One that is empty stands between two that are not.
    const all = [...sections, ...more].map((name, at) => ({ name, tokens: at === 3 ? 0 : 900, items: 1 }));
    await route.fulfill({ json: JSON.parse(JSON.stringify(pack).replace(/"sections":\[.*?\]/, `"sections":${JSON.stringify(all)}`)) });
  });
  await window.send('How many eggs?');
  await window.conversation.getByText('Two eggs.').waitFor();
  await page.keyboard.press('Alt+Shift+I');
  const pieces = page.locator('.bar .piece');
  await expect.poll(() => pieces.count()).toBe(12);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const colours = await coloursOf(page, '.bar .piece');
    const free = (await coloursOf(page, '.bar .free'))[0] ?? [];
    for (const [at, colour] of colours.entries()) {
      const next = colours[at + 1] ?? free;
      const apart = distance(colour, next);
      expect({ colorScheme, at, apart, isApart: apart > 0.12 }).toEqual({ colorScheme, at, apart, isApart: true });
    }
    // Seven of a kind before one comes again, and the list names them by the same colours.
    expect(new Set(colours.slice(0, 7).map(String)).size).toBe(7);
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
  expect(new Set((await coloursOf(page, '.bar .piece')).slice(0, 7).map(String)).size).toBe(7);
  await page.emulateMedia({ forcedColors: 'none' });
});

test('the dot of a session is there in forced colours', async () => {
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'a' } }] }] });
  const { page } = window;
  await window.send('Write it');
  await window.approval.waitFor();
  const dot = page.getByRole('list', { name: 'Sessions' }).locator('.dot.waits');
  await dot.waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme });
    const [seen = [], behind = []] = [...(await coloursOf(page, '.dot.waits')), ...(await coloursOf(page, 'body'))];
    expect(distance(seen, behind)).toBeGreaterThan(0.3);
  }
  await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
});

test('in forced colours the chosen of several, the key of a chart and the open tab are seen', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Two eggs.' }] });
  const { page } = window;
  await window.send('How many eggs?');
  await window.conversation.getByText('Two eggs.').waitFor();
  await page.evaluate("location.hash = '#/health/usage'");
  await page.locator('figcaption .key').first().waitFor();
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  const styleOf = (selector: string, property: string): Promise<string> =>
    page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
  expect(await styleOf('label.chosen', 'outlineStyle')).toBe('solid');
  expect(new Set((await coloursOf(page, 'figcaption .key')).map(String)).size).toBe(3);
  expect(await styleOf('.tab:not([aria-current])', 'borderBottomColor')).toBe(await styleOf('body', 'backgroundColor'));
  await page.evaluate("location.hash = '#/settings/models'");
  await page.locator('.setting:not(.changed)').first().waitFor();
  expect(await styleOf('.setting:not(.changed)', 'borderLeftStyle')).toBe('none');
  await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light' });
});
