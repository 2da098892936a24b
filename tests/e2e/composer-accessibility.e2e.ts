// The composer and messages with everything open, against axe's whole rule set: suggestions, results, files, menus, an edit, versions.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { colourRules, violations } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function inBothThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const found = await violations(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...found, ...(await violations(page, { rules: colourRules }))];
}

test.each([1280, 360])('no violations in the composer and in messages, at %i px', { timeout: 180_000 }, async (width) => {
  const window = await openWindow(browser, {
    historyTurns: 2,
    replies: [{ text: 'First go.' }, { text: 'Second go.' }],
    context: { reducedMotion: 'reduce', viewport: { width, height: 800 } },
  });
  const { page } = window;
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
  await page.locator('input[type=file]').setInputFiles([
    { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('Eggs') },
    { name: 'film.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_100_000) },
  ]);
  await page.getByText('film.bin is').waitFor();
  await window.message.fill('/');
  await page.getByRole('listbox', { name: 'Commands' }).waitFor();
  expect(await inBothThemes(page)).toEqual([]);
  await page.keyboard.press('Escape');

  await window.send('Read this');
  await window.conversation.getByText('First go.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  await window.send('/retry');
  await window.conversation.getByText('Second go.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Previous version' }).click();
  await window.send('/calc');
  await page.getByRole('region', { name: 'Result of /calc' }).getByText('Use it like this').waitFor();
  expect(await inBothThemes(page)).toEqual([]);

  await page.getByRole('button', { name: 'Next version' }).click();
  await window.conversation.getByRole('button', { name: 'Actions for your message' }).last().click();
  await page.getByRole('menu', { name: 'Actions for your message' }).waitFor();
  expect(await inBothThemes(page)).toEqual([]);
  await page.getByRole('menuitem', { name: 'Retry with another model' }).click();
  await page.getByRole('menuitemradio').first().waitFor();
  expect(await inBothThemes(page)).toEqual([]);
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('menuitem', { name: 'Edit', exact: true }).click();
  await page.getByRole('textbox', { name: 'Edited message' }).waitFor();
  expect(await inBothThemes(page)).toEqual([]);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(overflow).toBe(0);
  expect(window.incidents).toEqual([]);
});
