// The actions on a message and on an answer: copy, retry, edit and branch, fork, inspect, save.

import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const ofMessage = 'Actions for your message';
const ofAnswer = 'Actions for this answer';

const turn = ({ conversation }: WindowUnderTest, text: string) =>
  conversation.getByRole('article', { name: 'Turn' }).filter({ hasText: text });

async function items(window: WindowUnderTest, text: string, menu: string): Promise<string[]> {
  await turn(window, text).getByRole('button', { name: menu }).click();
  const names = await window.page.getByRole('menu', { name: menu }).getByRole('menuitem').allInnerTexts();
  await window.page.keyboard.press('Escape');
  return names;
}

async function choose(window: WindowUnderTest, text: string, menu: string, ...actions: readonly string[]): Promise<void> {
  await turn(window, text).getByRole('button', { name: menu }).click();
  for (const action of actions)
    await window.page.getByRole(/\//.test(action) ? 'menuitemradio' : 'menuitem', { name: action, exact: true }).click();
}

test('a message and an answer offer what fits: only the last can be run again', async () => {
  const window = await openWindow(browser, { historyTurns: 2 });
  await turn(window, 'Question 2').waitFor();
  const rest = ['Fork here', 'Pin as a rule', 'Open in Activity', 'Export this turn'];
  expect(await items(window, 'Question 1', ofMessage)).toEqual(['Copy', 'Edit and branch', ...rest]);
  expect(await items(window, 'Question 2', ofMessage)).toEqual(['Copy', 'Retry', 'Retry with another model', 'Edit and branch', ...rest]);
  expect(await items(window, 'Question 2', ofAnswer)).toEqual(['Copy', 'Retry', 'Retry with another model', ...rest]);
  expect(window.incidents).toEqual([]);
});

test('an answer is copied as it was written', async () => {
  const context = { permissions: ['clipboard-read', 'clipboard-write'] };
  const window = await openWindow(browser, { context, replies: [{ text: 'It is **bold**.' }] });
  await window.send('Say it');
  await turn(window, 'It is bold.').waitFor();
  await choose(window, 'It is bold.', ofAnswer, 'Copy');
  await expect.poll(() => window.page.evaluate<string>('navigator.clipboard.readText()')).toBe('It is **bold**.');
});

test('a retry takes the place of the turn, and the earlier try lies behind one line', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'First go.' }, { text: 'Second go.' }, { text: 'Third go.' }] });
  await window.send('Say something');
  await turn(window, 'First go.').waitFor();
  await choose(window, 'First go.', ofMessage, 'Retry');
  await turn(window, 'Second go.').waitFor();
  expect(await window.conversation.getByText('First go.').count()).toBe(0);
  expect(await window.conversation.getByText('Say something', { exact: true }).count()).toBe(1);
  const line = window.page.getByRole('button', { name: '1 earlier attempt' });
  await line.press('Enter');
  expect(await line.getAttribute('aria-expanded')).toBe('true');
  await window.page.getByRole('group', { name: 'Earlier attempts' }).getByText('First go.').waitFor();
  await line.press('Enter');
  await window.conversation.getByText('First go.').waitFor({ state: 'detached' });

  await choose(window, 'Second go.', ofAnswer, 'Retry with another model', 'lab/scripted');
  await turn(window, 'Third go.').waitFor();
  await window.page.getByRole('button', { name: '2 earlier attempts' }).waitFor();
  // The same from the log, after the page is reloaded.
  await window.page.reload();
  await window.page.getByRole('button', { name: '2 earlier attempts' }).waitFor();
  expect(await window.conversation.getByRole('article', { name: 'Turn' }).count()).toBe(1);
  expect(window.incidents).toEqual([]);
});

test('a message is edited in place by keyboard and starts a branch; Escape leaves it as it was', async () => {
  const window = await openWindow(browser, { historyTurns: 2, replies: [{ text: 'From the branch.' }] });
  const menu = turn(window, 'Question 2').getByRole('button', { name: ofMessage });
  await menu.focus();
  const { keyboard } = window.page;
  const openEdit = async (): Promise<void> => {
    await keyboard.press('Enter');
    await window.page.getByRole('menuitem', { name: 'Edit and branch' }).waitFor();
    // The keys are the menu's once it holds the focus, a moment after it is seen.
    await expect.poll(() => window.page.getByRole('menu').evaluate((all) => all.contains(all.ownerDocument.activeElement))).toBe(true);
    for (let press = 0; press < 3; press++) await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
  };
  await openEdit();
  const field = window.page.getByRole('textbox', { name: 'Edited message' });
  expect(await field.inputValue()).toBe('Question 2');
  await keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
  expect(await menu.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);

  await openEdit();
  await field.fill('Another question');
  await keyboard.press('Enter');
  await window.conversation.getByText('From the branch.', { exact: true }).waitFor();
  expect(window.page.url()).not.toContain('ses_earlier');
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  expect(await window.conversation.getByText('Question 2', { exact: true }).count()).toBe(0);
  // Turns before the branch ran elsewhere.
  expect(await items(window, 'Question 1', ofMessage)).not.toContain('Retry');
  expect(await items(window, 'Another question', ofMessage)).toContain('Retry');
  await window.page.getByRole('link', { name: /^Earlier work.*Answer 2/ }).click();
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
});

test('a fork ends with the turn it was made at', async () => {
  const window = await openWindow(browser, { historyTurns: 3 });
  await turn(window, 'Question 2').waitFor();
  await choose(window, 'Question 2', ofAnswer, 'Fork here');
  await expect.poll(() => window.page.url()).not.toContain('ses_earlier');
  await turn(window, 'Answer 2.').waitFor();
  expect(await window.conversation.getByText('Question 3', { exact: true }).count()).toBe(0);
  expect(await turn(window, 'Question 2').getByRole('button', { name: ofMessage }).count()).toBe(1);
});

test('a turn is opened in Activity and exported as a file', async () => {
  const window = await openWindow(browser, { historyTurns: 2 });
  await turn(window, 'Question 1').waitFor();
  const download = window.page.waitForEvent('download');
  await choose(window, 'Question 1', ofAnswer, 'Export this turn', 'As Markdown');
  const file = await download;
  expect(file.suggestedFilename()).toBe('trn_earlier_1.md');
  const text = await readFile(await file.path(), 'utf8');
  expect(text).toContain('Question 1');
  expect(text).not.toContain('Question 2');
  await choose(window, 'Question 1', ofMessage, 'Open in Activity');
  await expect.poll(() => window.page.url()).toContain('#/activity/ses_earlier/trn_earlier_1');
});

test('while a turn runs it can be copied and opened, and not forked or run again', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'word '.repeat(300), pieceChars: 12, delayMs: 60 }] });
  await window.send('Talk for a while');
  await window.conversation.getByText('word word').waitFor();
  expect(await items(window, 'Talk for a while', ofMessage)).toEqual([
    'Copy',
    'Edit and branch',
    'Pin as a rule',
    'Open in Activity',
    'Export this turn',
  ]);
  await window.page.getByRole('button', { name: 'Stop turn' }).click();
  await window.conversation.getByText('Stopped. What was done so far is kept.').waitFor();
  expect(await items(window, 'Talk for a while', ofMessage)).toContain('Retry');
});
