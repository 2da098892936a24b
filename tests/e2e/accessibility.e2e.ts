// Accessibility of the whole window: its width, its focus, and the page that asks for the token. The spec of the views visits every place
// and runs axe there.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';
import { placeOptions } from './driver/places.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('no violations on the page that asks for the token', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  await window.page.getByRole('button', { name: 'Connect' }).waitFor();
  expect(await violations(window.page)).toEqual([]);
});

const replies = (placeOptions.replies ?? []).slice(3);

test('nothing is wider than the window from 320 to 2560 px', async () => {
  const window = await openWindow(browser, { replies, historyTurns: 1 });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await window.send('Look into my notes');
  await window.conversation.getByRole('heading', { name: 'Report' }).waitFor();
  await window.send('Now test it');
  await window.approval.waitFor();
  for (const view of ['Chat', 'Activity', 'Approvals', 'Schedules', 'Agents', 'Skills', 'Artifacts', 'Settings', 'Health'] as const) {
    await window.go(view);
    for (const width of [320, 360, 480, 640, 768, 1024, 1500, 2560]) {
      await window.page.setViewportSize({ width, height: 800 });
      const overflow = await window.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect({ width, view, overflow }).toEqual({ width, view, overflow: 0 });
      const stop = await window.page.getByRole('button', { name: 'Panic stop', exact: true }).boundingBox();
      expect(stop !== null && stop.x + stop.width <= width).toBe(true);
    }
  }
});

test('at 320 px, as with a zoom of 200 %, what can be done with an answer is inside the window', async () => {
  const window = await openWindow(browser, {
    replies: [
      { calls: [{ tool: 'write_file', args: { path: 'plan-of-the-whole-year.md', content: 'a' } }] },
      { text: `Written: ${'a'.repeat(80)}\n\n- ${'b'.repeat(80)}\n\n${'word '.repeat(40)}` },
    ],
    context: { deviceScaleFactor: 2, reducedMotion: 'reduce' },
  });
  const { page, conversation } = window;
  await page.setViewportSize({ width: 320, height: 640 });
  await window.send('Write the plan of the whole year, and do not forget anything');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await conversation.getByText('Written:').waitFor();
  await window.details.click();
  await conversation
    .getByRole('button', { name: /plan-of-the-whole-year/ })
    .first()
    .click();
  await conversation.getByRole('button', { name: 'Actions for this answer' }).waitFor();
  const buttons = await conversation.getByRole('button').all();
  expect(buttons.length).toBeGreaterThan(6);
  for (const button of buttons) {
    const box = await button.boundingBox();
    const name = (await button.getAttribute('aria-label')) ?? (await button.innerText());
    expect({ name, isInside: box !== null && box.x >= 0 && box.x + box.width <= 320 }).toEqual({ name, isInside: true });
  }
  expect(await conversation.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
});

test('with a default text of 150 % and 200 % the names of the views are whole, and the icons grow with them', async () => {
  const { page, conversation } = await openWindow(browser, { historyTurns: 1 });
  await conversation.getByText('Question 1', { exact: true }).waitFor();
  const session = await page.context().newCDPSession(page);
  onTestFinished(async () => void (await session.send('Page.setFontSizes', { fontSizes: { standard: 16 } })));
  const nav = page.getByRole('navigation', { name: 'Main' });
  const icon = nav.getByRole('link', { name: 'Chat' }).locator('svg');
  for (const width of [1000, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    for (const standard of [16, 24, 32]) {
      await session.send('Page.setFontSizes', { fontSizes: { standard } });
      await expect.poll(async () => (await icon.boundingBox())?.width).toBe((18 * standard) / 16);
      const beyond = await nav.evaluate((element) => {
        const ends = element.getBoundingClientRect();
        // Where only the icons fit, the names are for screen readers.
        return [...element.querySelectorAll('.name')].flatMap((name) => {
          const { left, right, width: shown } = name.getBoundingClientRect();
          return shown > 1 && (left < ends.left || right > ends.right || name.scrollWidth > name.clientWidth) ? [name.textContent] : [];
        });
      });
      expect({ width, standard, beyond }).toEqual({ width, standard, beyond: [] });
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
  }
});

test('in a narrow window the field that finds a model takes the whole line', async () => {
  const { page, host } = await openSession(browser);
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(`${host.origin}/#/settings/models`);
  const field = page.getByRole('searchbox', { name: 'Find a model, or enter provider/model' });
  await field.waitFor();
  expect((await field.boundingBox())?.width).toBeGreaterThan(300);
});

test('in a narrow window the search for sessions is as high as the button next to it', async () => {
  const { page } = await openSession(browser, { historyTurns: 1 });
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Session list' }).click();
  const [search, create] = [
    page.getByRole('searchbox', { name: 'Search sessions' }),
    page.getByRole('button', { name: 'New session', exact: true }),
  ];
  await search.waitFor();
  expect((await search.boundingBox())?.height).toBe((await create.boundingBox())?.height);
});

test('the keyboard reaches the whole chat, and every stop has a visible focus', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
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

test('forced colours show the current view, session and menu entry', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await page.emulateMedia({ forcedColors: 'active' });
  const outlineOf = (place: Locator): Promise<string> =>
    place.evaluate((element) => {
      const { outlineStyle, outlineColor } = element.ownerDocument.defaultView?.getComputedStyle(element) ?? {};
      return `${outlineStyle} ${outlineColor?.endsWith(', 0)') ? 'unseen' : 'seen'}`;
    });
  const here = page.locator('a[aria-current]').filter({ visible: true });
  expect(await here.count()).toBe(2);
  for (const place of await here.all()) expect(await outlineOf(place)).toBe('solid seen');
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'More', exact: true }).press('Enter');
  await page.keyboard.press('ArrowDown');
  expect(await outlineOf(page.getByRole('menu').locator(':focus'))).toMatch(/^(?:solid|auto) seen$/);
  await page.emulateMedia({ forcedColors: 'none' });
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(window.incidents).toEqual([]);
});

/** Notes what changes inside an alert; a screen reader says only that. */
const noteAlerts = `(() => {
  window.heard = [];
  const note = (node) => {
    if (node.parentElement?.closest('[role=alert], [role=alert] *') && node.textContent.trim() !== '') window.heard.push(node.textContent.trim());
  };
  new MutationObserver((changes) => {
    for (const { type, target, addedNodes } of changes) for (const node of type === 'characterData' ? [target] : addedNodes) note(node);
  }).observe(document, { subtree: true, childList: true, characterData: true });
})()`;

test('the banner of a stop says each sentence once, and the release is announced', async () => {
  const calls = [{ tool: 'exec', args: { command: 'sleep 60' } }];
  const window = await openWindow(browser, { replies: [{ calls }], initScript: noteAlerts });
  const { page } = window;
  await window.send('Sleep');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('running', { exact: true }).waitFor();
  await page.keyboard.press('Control+Shift+Period');
  await page.getByRole('alert').getByText('Stopped: Sleep.').waitFor();
  const heard = await page.evaluate<string[]>('window.heard');
  expect(heard.filter((text) => text.includes('Nothing runs until you release it.')).length).toBeLessThan(2);
  await page.getByRole('button', { name: 'Release panic stop' }).click();
  await page.locator('[aria-live="polite"]').getByText('The panic stop is released.').waitFor();
});
