// Every view, light and dark, wide and narrow, against axe's whole rule set; approval text against AAA contrast.

import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.flatMap((violation) => violation.nodes.map((node) => `${violation.id}: ${node.html.slice(0, 160)}`));
}

// What each view shows once it has its data.
const settled = {
  Activity: /tokens, \d+ items$/,
  Approvals: 'Did it happen?',
  Artifacts: /^line 1\n/,
  Settings: 'Kept in',
  Health: 'The database is sound',
} as const;

const runs = (command: string) => ({ calls: [{ tool: 'exec', args: { command } }] });
/** Leaves an artifact, then a call whose end nobody sees. */
const crashReplies = [runs('for i in $(seq 1 30000); do echo "line $i"; done'), { text: 'Printed.' }, runs('echo under way; sleep 60')];

const replies = [
  {
    text: 'I will look first.',
    reasoning: 'A look at the notes is due.',
    calls: [
      { tool: 'read_file', args: { path: 'notes.md' } },
      { tool: 'read_file', args: { path: 'missing.md' } },
    ],
  },
  {
    text: '# Report\n\nText with `code` and [a link](https://example.org/).\n\n### Deep\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n\n```ts\nconst a = 1;\n```\n\n> quoted\n\n- [x] done',
  },
  { calls: [{ tool: 'exec', args: { command: 'npm te\u200bst' } }] },
];

async function crash(window: WindowUnderTest): Promise<void> {
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.send('Run it');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.host.stop('SIGKILL');
  await window.host.start();
  await window.openAddress();
  await window.conversation.getByText('Did it happen?').waitFor();
}

/** The page as it is, wide and narrow, light and dark; what is wrong by the name of the look. */
async function violationsInAllLooks(page: Page, name: string, onNarrow?: () => Promise<void>): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    if (width === 360) await onNarrow?.();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found[`${name}, ${colorScheme}, ${width} px`] = await violations(page);
    }
  }
  return found;
}

test('no violations in any view, light and dark, wide and narrow', { timeout: 180_000 }, async () => {
  // Without motion, so that no colour is measured on its way to another.
  const window = await openWindow(browser, { replies: [...crashReplies, ...replies], context: { reducedMotion: 'reduce' } });
  const { page } = window;
  const found: Record<string, string[]> = {};
  const check = async (name: string, onNarrow?: () => Promise<void>): Promise<void> => {
    Object.assign(found, await violationsInAllLooks(page, name, onNarrow));
  };
  await crash(window);
  await page.getByRole('button', { name: 'New session' }).click();
  await page.getByText('What should be done?').waitFor();
  await check('first start');
  await window.send('Look into my notes');
  await window.conversation.getByRole('heading', { name: 'Report' }).waitFor();
  await page.getByRole('button', { name: /^Read notes\.md/ }).click();
  await check('answer with an open card');
  await window.send('Now test it');
  await expect.poll(() => window.approval.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true);
  await check('approval');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const aaa = await new AxeBuilder({ page }).include('[aria-label="Approval needed"]').withRules(['color-contrast-enhanced']).analyze();
    found[`approval, AAA, ${colorScheme}`] = aaa.violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 160)));
  }
  for (const view of ['Activity', 'Approvals', 'Artifacts', 'Settings', 'Health'] as const) {
    await window.go(view);
    if (view === 'Activity') await page.getByRole('button', { name: 'What the model saw' }).click();
    if (view === 'Artifacts') await page.getByRole('list', { name: 'Artifacts' }).getByRole('link').first().click();
    await page.getByText(settled[view]).first().waitFor();
    await check(view);
  }
  await window.go('Chat');
  await page.getByRole('list', { name: 'Sessions' }).waitFor();
  await check('sessions', () => page.getByRole('button', { name: 'Session list' }).click());
  await page.getByRole('button', { name: 'Panic stop', exact: true }).click();
  await page.getByText('Everything is stopped.').first().waitFor();
  await check('stopped');
  expect(Object.entries(found).filter(([, wrong]) => wrong.length > 0)).toEqual([]);
  expect(Object.keys(found)).toHaveLength(10 * 4 + 2);
  expect(window.incidents).toEqual([]);
});

test('no violations where the token is asked for', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  await window.page.getByRole('button', { name: 'Connect' }).waitFor();
  expect(await violations(window.page)).toEqual([]);
});

test('nothing is wider than the window from 360 to 2560 px', async () => {
  const window = await openWindow(browser, { replies, historyTurns: 1 });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await window.send('Look into my notes');
  await window.conversation.getByRole('heading', { name: 'Report' }).waitFor();
  await window.send('Now test it');
  await window.approval.waitFor();
  for (const view of ['Chat', 'Activity', 'Approvals', 'Artifacts', 'Settings', 'Health'] as const) {
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
      'Chat',
      'Activity',
      'Approvals',
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
