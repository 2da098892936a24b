// Every view and dialog, light and dark, with the usual contrast and with more, wide and narrow, against axe's whole rule set; approval text against AAA contrast.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { colourRules, violations } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';
import { isSoak } from '../soak.ts';
import { placeOptions, visitPlaces, type Place } from './driver/places.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const usual = { width: 1280, colorScheme: 'light', contrast: 'no-preference' } as const;
const otherLooks = [
  { width: 360, colorScheme: 'light', contrast: 'no-preference' },
  { width: 1280, colorScheme: 'dark', contrast: 'no-preference' },
  { width: 360, colorScheme: 'dark', contrast: 'more' },
  { width: 1280, colorScheme: 'light', contrast: 'more' },
] as const;

/** The usual look and one of the others in turn; all of them in the long run. Narrow ones come first: what they open closes when it is wide. */
function looksOf(index: number): readonly ((typeof otherLooks)[number] | typeof usual)[] {
  const others = otherLooks.filter((_, at) => isSoak || at === index % otherLooks.length);
  return [...others, usual].toSorted((a, b) => a.width - b.width);
}

/** The page as it is in several looks; what is wrong by the name of the look. */
async function violationsInLooks(page: Page, { name, onNarrow }: Place, index: number): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  let lastWidth: number | undefined;
  for (const { width, ...media } of looksOf(index)) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia(media);
    if (width === 360 && lastWidth !== 360) await onNarrow?.();
    lastWidth = width;
    const isUsual = media.colorScheme === 'light' && media.contrast === 'no-preference';
    const look = `${name}, ${media.colorScheme}, contrast ${media.contrast}, ${width} px`;
    found[look] = await violations(page, isUsual ? {} : { rules: colourRules });
  }
  await page.emulateMedia({ contrast: 'no-preference', colorScheme: 'light' });
  return found;
}

// Each look takes half a second on an idle machine and ten times that on a busy one.
test('no violations in any view or dialog: light, dark, more contrast, wide and narrow', { timeout: 1_200_000 }, async () => {
  const window = await openWindow(browser, placeOptions);
  const { page } = window;
  const found: Record<string, string[]> = {};
  let visited = 0;
  await visitPlaces(window, async (place) => {
    Object.assign(found, await violationsInLooks(page, place, visited));
    visited += 1;
    if (place.name !== 'approval') return;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found[`approval, AAA, ${colorScheme}`] = await violations(page, {
        within: '[aria-label="Approval needed"]',
        rules: ['color-contrast-enhanced'],
      });
    }
  });
  expect(Object.entries(found).filter(([, wrong]) => wrong.length > 0)).toEqual([]);
  expect(Object.keys(found).length).toBeGreaterThanOrEqual(13 * 3 + 2);
  expect(window.incidents).toEqual([]);
});

test('no violations where the token is asked for', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  await window.page.getByRole('button', { name: 'Connect' }).waitFor();
  expect(await violations(window.page)).toEqual([]);
});

const replies = (placeOptions.replies ?? []).slice(3);

test('nothing is wider than the window from 360 to 2560 px', async () => {
  const window = await openWindow(browser, { replies, historyTurns: 1 });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await window.send('Look into my notes');
  await window.conversation.getByRole('heading', { name: 'Report' }).waitFor();
  await window.send('Now test it');
  await window.approval.waitFor();
  for (const view of ['Chat', 'Activity', 'Approvals', 'Schedules', 'Agents', 'Skills', 'Artifacts', 'Settings', 'Health'] as const) {
    await window.go(view);
    for (const width of [360, 480, 640, 768, 1024, 1500, 2560]) {
      await window.page.setViewportSize({ width, height: 800 });
      const overflow = await window.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect({ width, view, overflow }).toEqual({ width, view, overflow: 0 });
      const stop = await window.page.getByRole('button', { name: 'Panic stop', exact: true }).boundingBox();
      expect(stop !== null && stop.x + stop.width <= width).toBe(true);
    }
  }
});

test('the whole chat is reachable with the keyboard, and every stop has a visible focus', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  const names = new Set<string>();
  for (let press = 0; press < 40; press++) {
    await window.page.keyboard.press('Tab');
    const focused = await window.page.evaluate<{ name: string; outlined: boolean } | null>(`(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const style = getComputedStyle(element);
      const framed = element.closest('form') !== null && getComputedStyle(element.closest('form')).boxShadow !== 'none';
      return { name: element.getAttribute('aria-label') ?? element.textContent.trim().slice(0, 40), outlined: style.outlineStyle !== 'none' || framed };
    })()`);
    if (focused === null) continue;
    expect(focused).toEqual({ name: focused.name, outlined: true });
    names.add(focused.name);
  }
  expect([...names]).toEqual(
    expect.arrayContaining([
      'Skip to the conversation',
      'Commands',
      'Chat',
      'Activity',
      'Approvals',
      'Schedules',
      'Agents',
      'Skills',
      'Artifacts',
      'Settings',
      'Health',
      'Panic stop',
      'Search sessions',
      'New session',
      'Message',
      'Conversation',
    ]),
  );
});
