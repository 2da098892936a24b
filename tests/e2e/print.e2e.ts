// A session on paper or as a PDF: all of its text, dark on white, and none of the controls.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';
import { earlierSessionId } from './host/earlier-turns.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const cells = (text: string): string => Array.from({ length: 30 }, (_, at) => `${text}${at}`).join(' | ');
const parts = Array.from({ length: 60 }, (_, at) => `## Part ${at}\n\nWhat is to be said about part ${at}.`);
const code = `\`\`\`ts\n${'const name = "value"; '.repeat(20)}\n\`\`\``;
const report = [...parts, code, `| ${cells('column')} |\n|${'---|'.repeat(30)}\n| ${cells('value')} |`].join('\n\n');

test('a printed session has the title and the whole answer, on as many pages as it takes', async () => {
  const window = await openWindow(browser, { replies: [{ text: report }] });
  const { page, conversation } = window;
  onTestFinished(() => page.emulateMedia({ media: null, colorScheme: null }));
  await page.emulateMedia({ colorScheme: 'dark' });
  await window.send('Write the report');
  await conversation.getByRole('heading', { name: 'Part 59' }).waitFor();
  await conversation.getByRole('button', { name: 'Copy the answer' }).waitFor();
  const paper = { width: 794, height: 1123 };
  const pages = async (): Promise<number> => (await page.pdf({ format: 'A4' })).toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  await expect.poll(pages).toBeGreaterThan(3);
  await page.setViewportSize(paper);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const { message } = window;
  const controls = [
    message,
    page.getByRole('list', { name: 'Sessions' }),
    page.getByRole('navigation').first(),
    page.getByRole('button', { name: 'Panic stop' }),
  ];
  expect(await Promise.all(controls.map((control) => control.isVisible()))).toEqual([false, false, false, false]);
  expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(true);
  expect(await conversation.getByText('Write the report').isVisible()).toBe(true);
  // No part is outside the paper, where it could only be scrolled to.
  const beyond = `[...document.querySelectorAll('[role=log] :is(p, pre, td, h2)')].filter((part) => part.getBoundingClientRect().right > ${paper.width} || part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent.slice(0, 40))`;
  expect(await page.evaluate(beyond)).toEqual([]);
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(36, 33, 28)');
  expect(window.incidents).toEqual([]);
});

test('the print keys print every turn, not only those in the page, and the place stays', async () => {
  const window = await openWindow(browser, { historyTurns: 120 });
  const { page, conversation } = window;
  await page.goto(`${window.host.origin}/#/chat/${earlierSessionId}`);
  const drawn = (): Promise<number> => conversation.locator('[data-turn]').count();
  await expect.poll(drawn).toBeGreaterThan(3);
  expect(await drawn()).toBeLessThan(60);
  const before = await conversation.locator('[data-turn]').last().textContent();
  await page.evaluate(`globalThis.print = () => { globalThis.printed = document.querySelectorAll('[role=log] [data-turn]').length; }`);
  await page.keyboard.press('Control+p');
  await expect.poll(() => page.evaluate('globalThis.printed')).toBe(120);
  await expect.poll(drawn).toBeLessThan(60);
  expect(await conversation.locator('[data-turn]').last().textContent()).toBe(before);
  expect(window.incidents).toEqual([]);
});
