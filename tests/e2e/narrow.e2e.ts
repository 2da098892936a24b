// On a narrow window: nothing is cut that a person needs, and nothing scrolls sideways.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** How many of the elements are wider inside than outside. */
const cut = (selector: string): string =>
  `[...document.querySelectorAll('${selector}')].filter((element) => element.scrollWidth > element.clientWidth).length`;

test('at 390 px, names of commands, the themes and the tables of usage fit', async () => {
  const viewport = { width: 390, height: 844 };
  const window = await openSession(browser, { replies: [{ text: 'One.' }], context: { viewport } });
  const { page, host } = window;
  await window.send('First question');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Show what the model saw in the last turn' }).waitFor();
  expect(await page.evaluate(cut('[role=option] .name'))).toBe(0);
  await page.keyboard.press('Escape');
  await page.goto(`${host.origin}/#/settings/appearance`);
  const themes = page.getByRole('group', { name: 'Theme' }).getByRole('radio');
  await themes.first().waitFor();
  const heights = await themes.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
  expect([heights.length, new Set(heights).size]).toEqual([3, 1]);
  await page.goto(`${host.origin}/#/health/usage`);
  for (const measure of ['Tokens', 'Cost', 'Latency']) {
    await page.getByText(measure, { exact: true }).first().click();
    await page.getByRole('group', { name: `${measure} per day` }).waitFor();
    expect([measure, await page.evaluate(cut('main .scroll'))]).toEqual([measure, 0]);
  }
  expect(window.incidents).toEqual([]);
});

test('at 768 px, the title of a session and the rows of settings have the space they need', async () => {
  const window = await openWindow(browser, { historyTurns: 1, context: { viewport: { width: 768, height: 1024 } } });
  const { page, host } = window;
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  expect(await page.evaluate(cut('#title'))).toBe(0);
  await page.goto(`${host.origin}/#/settings/models`);
  await page.locator('main form.setting').first().waitFor();
  // The title and its help follow each other without an empty line.
  const gaps = await page.evaluate<number[]>(
    `[...document.querySelectorAll('form.setting')].flatMap((row) => { const help = row.querySelector('p[id$=help]'); const title = row.querySelector('h3'); return help === null || row.querySelector('.badge') !== null ? [] : [help.getBoundingClientRect().top - title.getBoundingClientRect().bottom]; })`,
  );
  expect(gaps.length).toBeGreaterThan(3);
  expect(Math.max(...gaps)).toBeLessThan(8);
});

test('at any width the hint of the composer is whole or hidden, and a long name in the palette is whole where it fits', async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  const title = 'A session with a title that is nearly as long as titles become';
  await page.getByText('What can I do for you?').waitFor();
  const shown: [number, boolean][] = [];
  for (const width of [1280, 900, 768, 700, 390]) {
    await page.setViewportSize({ width, height: 700 });
    const hint = page.getByText(/^Shift\+Enter new line/);
    const [clipped, isShown] = await hint.evaluate((element) => {
      const box = element.getBoundingClientRect();
      const range = element.ownerDocument.createRange();
      range.selectNodeContents(element);
      const text = range.getBoundingClientRect();
      return [text.top < box.bottom && text.right > box.right, text.top < box.bottom] as const;
    });
    expect([width, clipped]).toEqual([width, false]);
    shown.push([width, isShown]);
  }
  expect(shown).toEqual([
    [1280, true],
    [900, false],
    [768, false],
    [700, false],
    [390, false],
  ]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await host.op('session.create', { title });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('nearly');
  await page.getByRole('option', { name: title }).waitFor();
  expect(await page.evaluate(cut('[role=option] .name'))).toBe(0);
});

test('at 640 by 400 px, Activity shows the turns or one of them, and the focus goes along', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }], context: { viewport: { width: 640, height: 400 } } });
  const { page } = window;
  await window.send('First question');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await window.go('Activity');
  const turns = page.getByRole('list', { name: 'Turns' });
  const report = page.getByRole('region', { name: 'Turn', exact: true });
  const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent.trim()');
  await turns.getByRole('link').press('Enter');
  await report.getByRole('heading', { name: 'First question' }).waitFor();
  expect(await turns.isVisible()).toBe(false);
  expect(await focused()).toBe('All turns');
  expect((await report.boundingBox())?.y).toBeLessThan(120);
  await page.keyboard.press('Enter');
  await turns.getByRole('link').waitFor();
  expect(await report.isVisible()).toBe(false);
  await expect.poll(focused).toMatch(/^First question/);
  await page.setViewportSize({ width: 1280, height: 800 });
  await report.waitFor();
  expect(await turns.isVisible()).toBe(true);
  expect(await page.getByRole('link', { name: 'All turns' }).count()).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('at 640 by 400 px, the queue of approvals leaves space for the card, and what has the focus is not below another button', async () => {
  const runs = (command: string) => ({ tool: 'exec', args: { command } });
  const window = await openSession(browser, {
    replies: [{ calls: ['npm test', 'rm -rf build', 'ls /etc', 'make', 'make install'].map(runs) }],
    context: { viewport: { width: 640, height: 400 } },
  });
  const { page } = window;
  await window.send('Run them');
  await window.approval.nth(4).waitFor();
  await window.conversation.focus();
  await page.keyboard.press('Home');
  await page.locator('.jump button').waitFor();
  const covered: string[] = [];
  for (let step = 0; step < 24; step++) {
    await page.keyboard.press('Tab');
    covered.push(
      ...(await page.evaluate<string[]>(`(() => {
        const own = document.activeElement.getBoundingClientRect();
        return [...document.querySelectorAll('.jump button')].flatMap((button) => {
          const box = button.getBoundingClientRect();
          const isApart = document.activeElement === button || own.height > 60 || own.bottom <= box.top || own.right <= box.left;
          return isApart || own.left >= box.right || own.top >= box.bottom ? [] : [document.activeElement.textContent.trim()];
        });
      })()`)),
    );
  }
  expect(covered).toEqual([]);
  await window.go('Approvals');
  const rows = page.getByRole('list', { name: 'Queue' }).getByRole('button');
  await rows.nth(4).waitFor();
  // A serious call is marked, and reads as on its card.
  expect(await rows.nth(1).innerText()).toContain('Deletes build and everything inside');
  expect(await rows.evaluateAll((all) => all.map((row) => row.querySelectorAll('svg').length))).toEqual([0, 1, 0, 0, 0]);
  const heading = await window.approval.getByRole('heading').boundingBox();
  const nav = await page.getByRole('navigation', { name: 'Main' }).boundingBox();
  expect((heading?.y ?? 0) + (heading?.height ?? 400)).toBeLessThan(nav?.y ?? 0);
  expect(window.incidents).toEqual([]);
});

test('the tasks of the first start are seen at 640 by 400 px, and at 320 by 256 px a stopped window keeps Send off the navigation', async () => {
  const window = await openSession(browser, { context: { viewport: { width: 640, height: 400 } } });
  const { page } = window;
  const composerTop = async (): Promise<number> => (await window.message.boundingBox())?.y ?? 0;
  const task = page.getByRole('list', { name: 'Example tasks' }).getByRole('button').first();
  expect((await task.boundingBox())?.y).toBeLessThan(await composerTop());
  await page.getByRole('button', { name: 'Panic stop', exact: true }).click();
  await page.getByText('Everything is stopped.').first().waitFor();
  await page.setViewportSize({ width: 320, height: 256 });
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await send.scrollIntoViewIfNeeded();
  const [button, nav] = [await send.boundingBox(), await page.getByRole('navigation', { name: 'Main' }).boundingBox()];
  expect((button?.y ?? 0) + (button?.height ?? 256)).toBeLessThanOrEqual(nav?.y ?? 0);
  // The panic stop stays in reach there.
  expect((await page.getByRole('banner').boundingBox())?.y).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('the tabs of the side panel are one row at 360 px, and a count leaves the icon to be seen', async () => {
  const content = (index: number) => ({ tool: 'write_file', args: { path: `${index}.md`, content: 'text' } });
  const window = await openWindow(browser, { replies: [{ calls: Array.from({ length: 12 }, (_, index) => content(index)) }] });
  const { page } = window;
  await window.send('Write them');
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Approvals' });
  const count = link.locator('..').getByText('12', { exact: true });
  for (const width of [1280, 800, 360]) {
    await page.setViewportSize({ width, height: 740 });
    const [icon, badge] = [await link.locator('svg').boundingBox(), await count.boundingBox()];
    // At least half of the icon is free.
    expect([width, (badge?.x ?? 0) - (icon?.x ?? 0) >= (icon?.width ?? 0) / 2 - 7]).toEqual([width, true]);
  }
  await page.getByRole('button', { name: 'Side panel' }).click();
  const tabs = page.getByRole('complementary', { name: 'Side panel' }).getByRole('group').getByRole('button');
  await tabs.nth(4).waitFor();
  const rows = await tabs.evaluateAll((all) => new Set(all.map((tab) => tab.getBoundingClientRect().top)).size);
  expect([await tabs.count(), rows]).toEqual([5, 1]);
  expect(window.incidents).toEqual([]);
});

test('at 390 px, the menu of an approval is next to its details, not alone in a row', async () => {
  const calls = [{ tool: 'write_file', args: { path: 'plan.md', content: 'Plan' } }];
  const window = await openWindow(browser, { replies: [{ calls }], context: { viewport: { width: 390, height: 844 } } });
  await window.send('Write it');
  const menu = await window.approval.getByRole('button', { name: 'Other answers' }).boundingBox();
  const details = await window.approval.getByText('Details', { exact: true }).boundingBox();
  expect(Math.abs((menu?.y ?? 0) + (menu?.height ?? 0) / 2 - ((details?.y ?? 0) + (details?.height ?? 0) / 2))).toBeLessThan(4);
  expect((menu?.x ?? 0) > (details?.x ?? 0)).toBe(true);
});
