// The one-minute tour with the offline demo, by keyboard alone; saved prompts, and a draft that survives a reload.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('the tour covers ask, approve, undo and stop', { timeout: 120_000 }, async () => {
  // With motion, as most people have it.
  const window = await openWindow(browser, { usesDemo: true, context: { reducedMotion: 'no-preference' } });
  const { page } = window;
  await page.getByRole('button', { name: 'Take the one-minute tour' }).press('Enter');
  const tour = page.getByRole('region', { name: 'One-minute tour' });
  const step = tour.getByRole('listitem').and(page.locator('[aria-current="step"]'));
  await expect.poll(() => step.innerText()).toBe('Ask');
  await looksGood(page, 'tour-ask');
  await tour.getByRole('button', { name: 'Send it' }).press('Enter');
  await window.approval.waitFor();
  await expect.poll(() => step.innerText()).toBe('Approve');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await expect.poll(() => step.innerText()).toBe('Undo');
  expect(await window.host.readFile('example/notes.md')).toContain('orders.csv');
  await page.getByRole('button', { name: 'Undo changes' }).press('Enter');
  await expect.poll(() => step.innerText()).toBe('Stop');
  await looksGood(page, 'tour-stop');
  expect(await window.host.readFile('example/notes.md')).toBe(null);
  await tour.getByRole('button', { name: 'Start it' }).press('Enter');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await page.getByRole('button', { name: /^Running/ }).waitFor();
  await page.getByRole('button', { name: 'Stop turn' }).press('Enter');
  await tour.getByText('That is the whole loop.').waitFor();
  await tour.getByRole('button', { name: 'Finish' }).press('Enter');
  await tour.waitFor({ state: 'detached' });
  expect(window.incidents).toEqual([]);
});

test('a message is saved as a prompt and used by /prompt; a draft survives a reload', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Summed up.' }] });
  const { page } = window;
  await window.message.fill('Sum up this week.');
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Commands' }).fill('Saved prompts');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Saved prompts' });
  await dialog.getByLabel('Name of the prompt').fill('weekly');
  await dialog.getByLabel('Name of the prompt').press('Enter');
  await dialog.getByRole('list', { name: 'Saved prompts' }).getByText('weekly', { exact: true }).waitFor();
  await looksGood(page, 'saved-prompts');
  await page.keyboard.press('Escape');
  await window.message.fill('/prompt we');
  await page.getByRole('option', { name: /weekly/ }).waitFor();
  await window.message.press('Tab');
  expect(await window.message.inputValue()).toBe('Sum up this week.');

  await page.reload();
  await expect.poll(() => window.message.inputValue()).toBe('Sum up this week.');
  await window.message.press('Enter');
  await window.conversation.getByText('Summed up.').waitFor();
  await page.reload();
  await window.conversation.getByText('Summed up.').waitFor();
  expect(await window.message.inputValue()).toBe('');
  expect(window.incidents).toEqual([]);
});
