// Finding in a long session, most of which is not loaded: text, a date, the beginning and the end.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSoak } from '../soak.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Turns of two messages each, one turn per minute. */
const turns = isSoak ? 5000 : 400;
const patience = { timeout: 15_000, interval: 20 };
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`document.activeElement.getAttribute('aria-label') ?? document.activeElement.dataset.turn ?? ''`);
const isInView = (page: Page, turn: number): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const turn = document.querySelector('[data-turn="trn_earlier_${turn}"]')?.getBoundingClientRect();
    const log = document.querySelector('[role="log"]').getBoundingClientRect();
    return turn !== undefined && turn.bottom > log.top && turn.top < log.bottom;
  })()`);

test('text is found in turns that are not loaded, by keyboard; the focus returns', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { historyTurns: turns });
  const { page, conversation } = window;
  await conversation.getByText(`Question ${turns}`, { exact: true }).waitFor();
  await window.message.focus();
  await page.keyboard.press('Control+f');
  const field = page.getByRole('textbox', { name: 'Find', exact: true });
  await expect.poll(() => focused(page), patience).toBe('Find');
  await field.fill('question 17');
  const place = page.getByRole('search').getByRole('status');
  // Matches 17 and 170 to 179; in the long session 1700 to 1799 as well.
  const [hits, last] = isSoak ? [111, 1799] : [11, 179];
  await expect.poll(() => place.innerText(), patience).toBe(`${hits} of ${hits}`);
  await expect.poll(() => isInView(page, last), patience).toBe(true);
  await page.keyboard.press('Enter');
  await expect.poll(() => place.innerText(), patience).toBe(`1 of ${hits}`);
  await expect.poll(() => isInView(page, 17), patience).toBe(true);
  expect(await focused(page)).toBe('Find');
  const marksHere = (): Promise<number> => page.evaluate<number>(`CSS.highlights.get('found-here').size`);
  await expect.poll(marksHere, patience).toBe(3);
  await looksGood(page, 'find');
  await page.evaluate(`document.querySelectorAll('time').forEach((time) => { time.textContent = '17:17'; })`);
  await page.keyboard.press('Shift+Enter');
  await expect.poll(() => isInView(page, last), patience).toBe(true);
  await page.keyboard.press('Enter');
  await expect.poll(() => isInView(page, 17), patience).toBe(true);
  // The time next to a message is not searched.
  await expect.poll(marksHere, patience).toBe(3);
  const marks = (): Promise<number> => page.evaluate<number>(`CSS.highlights.get('found')?.size ?? 0`);
  await field.fill('answers 17');
  await expect.poll(() => place.innerText(), patience).toBe('Nothing found');
  await expect.poll(marks, patience).toBe(0);
  // Neither part of a word in the middle nor the beginning of another is a find.
  await field.fill('point wit');
  await expect.poll(() => place.innerText(), patience).toMatch(/^\d+ of/);
  await expect
    .poll(() => page.evaluate<string[]>(`[...new Set([...CSS.highlights.get('found')].map(String))].sort()`), patience)
    .toEqual(['point', 'wit']);
  await field.fill('oint');
  await expect.poll(() => place.innerText(), patience).toBe('Nothing found');
  await expect.poll(marks, patience).toBe(0);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  expect([await focused(page), await page.evaluate<number>('CSS.highlights.size')]).toEqual(['Message', 0]);
  expect(window.incidents).toEqual([]);
});

test('words are found in the middle of a text without spaces', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Fair.' }] });
  const { page } = window;
  await window.send('東京都港区の天気 in Minato');
  await window.conversation.getByText('Fair.').waitFor();
  await page.keyboard.press('Control+f');
  const field = page.getByRole('textbox', { name: 'Find', exact: true });
  for (const query of ['港区', '天気 mina']) {
    await field.fill(query);
    await expect.poll(() => page.getByRole('search').getByRole('status').innerText(), patience).toMatch(/^1 of/);
    await expect
      .poll(() => page.evaluate<string>(`[...new Set([...CSS.highlights.get('found')].map(String))].join(' ').toLowerCase()`), patience)
      .toBe(query);
  }
  expect(window.incidents).toEqual([]);
});

test('one key jumps to the beginning, one to the end, a date to its first turn', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { historyTurns: turns });
  const { page, conversation } = window;
  await conversation.getByText(`Question ${turns}`, { exact: true }).waitFor();
  await conversation.focus();
  const startedAt = Date.now();
  await page.keyboard.press('Home');
  await expect.poll(() => isInView(page, 1), patience).toBe(true);
  if (isSoak) process.stdout.write(`to the beginning of ${turns * 2} messages: ${Date.now() - startedAt} ms\n`);
  expect(await focused(page)).toBe('trn_earlier_1');
  // Scrolling loads later turns, up to those loaded at first.
  expect(await conversation.getByText(`Question ${turns}`, { exact: true }).count()).toBe(0);
  await page.keyboard.press('End');
  await expect.poll(() => isInView(page, turns), patience).toBe(true);
  await page.keyboard.press('Control+Home');
  await expect.poll(() => isInView(page, 1), patience).toBe(true);
  await page.keyboard.press('Alt+Shift+g');
  await expect.poll(() => page.evaluate<string>('document.activeElement.type'), patience).toBe('date');
  const today = new Date();
  const day = new Date(today.getTime() - today.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  await page.locator('input[type="date"]').fill(day);
  const minutes = today.getHours() * 60 + today.getMinutes();
  // There is one turn per minute: the first of today, or the beginning if the session began today.
  await expect.poll(() => focused(page), patience).toMatch(/^trn_earlier_\d+$/);
  const first = Number((await focused(page)).slice('trn_earlier_'.length));
  expect(Math.abs(first - Math.max(1, turns + 2 - minutes))).toBeLessThanOrEqual(2);
  expect(window.incidents).toEqual([]);
});

test('scrolling from an older part reaches the end without a gap', { timeout: 240_000 }, async () => {
  const window = await openWindow(browser, { historyTurns: 150 });
  const { page, conversation } = window;
  await conversation.getByText('Question 150', { exact: true }).waitFor();
  await conversation.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => isInView(page, 1), patience).toBe(true);
  const seen = new Set<number>();
  const look = async (): Promise<number> => {
    const shown = await page.evaluate<number[]>(
      `[...document.querySelectorAll('[data-turn]')].map((turn) => Number(turn.dataset.turn.slice('trn_earlier_'.length)))`,
    );
    for (const turn of shown) seen.add(turn);
    await page.evaluate(`document.querySelector('[role="log"]').scrollBy(0, 2000)`);
    return Math.max(...shown);
  };
  await expect.poll(look, { timeout: 120_000, interval: 30 }).toBe(150);
  expect(Array.from({ length: 150 }, (_, index) => index + 1).filter((turn) => !seen.has(turn))).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('the words of a hit that is already on the page are marked more strongly too', async () => {
  const window = await openWindow(browser, { historyTurns: 3 });
  const { page, conversation } = window;
  await conversation.getByText('Question 3', { exact: true }).waitFor();
  await page.keyboard.press('Control+f');
  const marked = (): Promise<string[]> => page.evaluate<string[]>("[...(CSS.highlights.get('found-here') ?? [])].map(String)");
  await page.getByRole('textbox', { name: 'Find', exact: true }).fill('question');
  await expect.poll(marked, patience).toEqual(['Question']);
  const first = await page.evaluate("[...CSS.highlights.get('found-here')][0].startContainer.nodeValue");
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.evaluate("[...(CSS.highlights.get('found-here') ?? [])].map((range) => range.startContainer.nodeValue).join()"))
    .not.toBe(first);
});
