// Memory in the window: what waits is accepted or dropped, contradictions are settled, the rest is searched, pinned and forgotten.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('added, proposed, contradicted: each is decided here', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Yes.' }] });
  const { page } = window;
  await window.host.op('memory.import', { text: '{"kind":"lesson","text":"Bees fly south."}', state: 'candidate' });
  await window.go('Memory');
  await page.getByText('Nothing is used before').or(page.getByText('Nothing of this is used before you accept it.')).waitFor();
  await page.getByRole('textbox', { name: 'Something to remember' }).fill('My editor is vim.');
  await page.getByRole('button', { name: 'Remember', exact: true }).click();
  const kept = page.getByRole('list', { name: 'Remembered' });
  await kept.getByText('My editor is vim.').waitFor();
  await page.getByRole('textbox', { name: 'Something to remember' }).fill('My editor is emacs.');
  await page.getByRole('button', { name: 'Remember', exact: true }).click();
  await page.getByRole('heading', { name: 'Contradictions' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep: My editor is emacs.' }).click();
  await page.getByRole('heading', { name: 'Contradictions' }).waitFor({ state: 'detached' });
  await kept.getByText('My editor is vim.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Accept: Bees fly south.' }).click();
  await kept.getByText('Bees fly south.').waitFor();
  await page.getByRole('button', { name: 'Pin: Bees fly south.' }).click();
  await page.getByRole('button', { name: 'Unpin: Bees fly south.' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search memories' }).fill('bees');
  await kept.getByText('My editor is emacs.').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Forget: Bees fly south.' }).click();
  await page.getByText('Nothing was found.').waitFor();
});
