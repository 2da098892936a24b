// On a narrow window: nothing is cut that a person needs, and nothing scrolls sideways.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

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
  const window = await openWindow(browser, { replies: [{ text: 'One.' }], context: { viewport } });
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
