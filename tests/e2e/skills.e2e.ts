// Skills in the window: what each needs and whose word it is; trust for what was shown, the switch, and what could not be taken in.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const weather = `---\nname: weather\ndescription: Tells the weather of a place from a file.\nmetadata: {"openclaw":{"requires":{"bins":["weather-tool-nobody-has"]}}}\nmood: sunny\n---\n\nLook it up.\n`;

test(
  'a skill shows what it needs and what is wrong with it, and is trusted only once its text was open',
  { timeout: 120_000 },
  async () => {
    const window = await openWindow(browser, { files: { 'skills/weather/SKILL.md': weather, 'skills/broken/SKILL.md': 'no head' } });
    const { page } = window;
    await window.message.waitFor();
    await window.go('Skills');
    const list = page.getByRole('list', { name: 'Skills', exact: true });
    await list.getByRole('region', { name: 'csv-summary' }).waitFor();
    await page.getByRole('button', { name: 'Read anew' }).click();
    const card = list.getByRole('region', { name: 'weather' });
    await card.getByText('Nobody has said yet that its text can be trusted.').waitFor();
    await page.getByRole('list', { name: 'Not taken in' }).getByText('It has no head.').waitFor();
    expect(await card.getByRole('list', { name: 'What weather needs' }).innerText()).toContain('weather-tool-nobody-has: is missing');
    const trust = card.getByRole('button', { name: 'Trust the skill weather' });
    expect(await trust.isDisabled()).toBe(true);
    await card.getByText('Text and findings').press('Enter');
    await card.getByText('Look it up.').waitFor();
    await card.getByRole('list', { name: 'Findings about weather' }).getByText('"mood" is not a key of the standard').waitFor();
    await looksGood(page, 'skills');
    await trust.click();
    await card.getByRole('button', { name: 'No longer trust the skill weather' }).waitFor();
    await card.getByText('It needs what is not there').waitFor();
    const other = list.getByRole('region', { name: 'csv-summary' });
    await other.getByRole('button', { name: 'Switch off the skill csv-summary' }).click();
    await other.getByText('It is switched off.').waitFor();
    expect(window.incidents).toEqual([]);
  },
);

test('skills are reached by a key, in German as well', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { context: { locale: 'de-DE' } });
  const { page } = window;
  await page.getByRole('textbox', { name: 'Nachricht', exact: true }).waitFor();
  await page.keyboard.press('Alt+Shift+7');
  const card = page.getByRole('list', { name: 'Fähigkeiten', exact: true }).getByRole('region', { name: 'csv-summary' });
  await card.getByText('mit dem Programm gekommen, vertraut').waitFor();
  expect(window.incidents).toEqual([]);
});
