// The actions on a message and on an answer: copy, retry, edit and branch, fork, inspect, save.

import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

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

test('messages and answers offer what applies: only the last can be run again', async () => {
  const window = await openSession(browser, { historyTurns: 2 });
  await turn(window, 'Question 2').waitFor();
  const rest = ['Pin as a rule', 'Open in Activity', 'Export this turn'];
  const branches = ['Edit', 'Fork here', 'Go back to here…'];
  expect(await items(window, 'Question 1', ofMessage)).toEqual(['Copy', ...branches, ...rest]);
  expect(await items(window, 'Question 2', ofMessage)).toEqual(['Copy', 'Retry', 'Retry with another model', ...branches, ...rest]);
  expect(await items(window, 'Question 2', ofAnswer)).toEqual(['Fork here', ...rest]);
  // The frequent actions are next to the answer.
  const beside = ({ text }: { text: string }) =>
    turn(window, text).getByRole('button', { name: /^(?:Copy the answer|Retry|Retry with another model)$/ });
  expect([await beside({ text: 'Question 1' }).count(), await beside({ text: 'Question 2' }).count()]).toEqual([1, 3]);
  expect(window.incidents).toEqual([]);
});

test('an answer is copied as it was written', async () => {
  const context = { permissions: ['clipboard-read', 'clipboard-write'] };
  const window = await openWindow(browser, { context, replies: [{ text: 'It is **bold**.' }] });
  await window.send('Say it');
  await turn(window, 'It is bold.').waitFor();
  await turn(window, 'It is bold.').getByRole('button', { name: 'Copy the answer' }).click();
  await expect.poll(() => window.page.evaluate<string>('navigator.clipboard.readText()')).toBe('It is **bold**.');
});

test('a retry replaces the turn, and its versions can be browsed in place', { timeout: 120_000 }, async () => {
  const window = await openSession(browser, { replies: [{ text: 'First go.' }, { text: 'Second go.' }, { text: 'Third go.' }] });
  await window.send('Say something');
  await turn(window, 'First go.').waitFor();
  await choose(window, 'First go.', ofMessage, 'Retry');
  await turn(window, 'Second go.').waitFor();
  expect(await window.conversation.getByText('First go.').count()).toBe(0);
  expect(await window.conversation.getByText('Say something', { exact: true }).count()).toBe(1);
  const versions = window.conversation.getByRole('group', { name: 'Versions of this message' });
  await versions.getByText('2 of 2').waitFor();
  const back = versions.getByRole('button', { name: 'Previous version' });
  await back.press('Enter');
  await window.conversation.getByText('First go.', { exact: true }).waitFor();
  // The focus stays on the version buttons.
  expect(await back.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  expect(await window.conversation.getByText('Second go.').count()).toBe(0);
  await looksGood(window.page, 'versions');
  await versions.getByRole('button', { name: 'Next version' }).click();
  await window.conversation.getByText('First go.').waitFor({ state: 'detached' });

  await turn(window, 'Second go.').getByRole('button', { name: 'Retry with another model' }).click();
  await window.page.getByRole('menuitemradio', { name: 'lab/scripted', exact: true }).click();
  await turn(window, 'Third go.').waitFor();
  await versions.getByText('3 of 3').waitFor();
  // Read from the log, after the page is reloaded.
  await window.page.reload();
  await versions.getByText('3 of 3').waitFor();
  expect(await window.conversation.getByRole('article', { name: 'Turn' }).count()).toBe(1);
  await looksGood(window.page, 'newest-answer');
  expect(window.incidents).toEqual([]);
});

test('editing the last message replaces its answer, and the old version is kept', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Of cats.' }, { text: 'Of dogs.' }, { text: 'And so on.' }] });
  await window.send('Tell me of cats');
  await turn(window, 'Of cats.').waitFor();
  await choose(window, 'Of cats.', ofMessage, 'Edit');
  const field = window.page.getByRole('textbox', { name: 'Edited message' });
  await field.fill('Tell me of dogs');
  await looksGood(window.page, 'edit-in-place');
  await window.page.getByRole('button', { name: 'Send', exact: true }).first().click();
  await turn(window, 'Of dogs.').waitFor();
  expect(await window.conversation.getByText('Tell me of cats').count()).toBe(0);
  await window.conversation.getByRole('button', { name: 'Previous version' }).click();
  await window.conversation.getByText('Tell me of cats', { exact: true }).waitFor();
  await window.conversation.getByText('Of cats.', { exact: true }).waitFor();
  await window.send('Go on');
  await window.conversation.getByText('And so on.', { exact: true }).waitFor();
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { sessionId: string }[] };
  expect(sessions.length).toBe(1);
  // The model received the new text and not the old one.
  const { text } = (await window.host.op('session.export', { sessionId: sessions[0]?.sessionId, format: 'markdown' })) as { text: string };
  expect(text).toContain('Tell me of dogs');
  expect(window.incidents).toEqual([]);
});

test('a message is edited by keyboard and starts a branch; Escape changes nothing', async () => {
  const window = await openSession(browser, { historyTurns: 2, replies: [{ text: 'From the branch.' }] });
  const menu = turn(window, 'Question 2').getByRole('button', { name: ofMessage });
  await menu.focus();
  const { keyboard } = window.page;
  const openEdit = async (): Promise<void> => {
    await keyboard.press('Enter');
    await window.page.getByRole('menuitem', { name: 'Edit', exact: true }).waitFor();
    // The menu handles keys once it has the focus, a moment after it is visible.
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
  await window.page.getByRole('button', { name: 'Send as a branch' }).click();
  await window.conversation.getByText('From the branch.', { exact: true }).waitFor();
  expect(window.page.url()).not.toContain('ses_earlier');
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  expect(await window.conversation.getByText('Question 2', { exact: true }).count()).toBe(0);
  // Turns before the branch ran in another session.
  expect(await items(window, 'Question 1', ofMessage)).not.toContain('Retry');
  expect(await items(window, 'Another question', ofMessage)).toContain('Retry');
  await window.page.getByRole('link', { name: /^Earlier work.*Answer 2/ }).click();
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
});

test('an unsent edit of a message is kept when its view is left, and after a reload, without taking the focus', async () => {
  const window = await openSession(browser, { historyTurns: 2 });
  await turn(window, 'Question 1').waitFor();
  await choose(window, 'Question 1', ofMessage, 'Edit');
  const field = window.page.getByRole('textbox', { name: 'Edited message' });
  await field.fill('Half an edit');
  await window.go('Memory');
  await field.waitFor({ state: 'detached' });
  await window.go('Chat');
  await field.waitFor();
  expect(await field.inputValue()).toBe('Half an edit');
  await window.page.reload();
  await field.waitFor();
  expect(await field.inputValue()).toBe('Half an edit');
  expect(await field.evaluate((box) => box === box.ownerDocument.activeElement)).toBe(false);
  await window.page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await window.go('Memory');
  await window.go('Chat');
  await turn(window, 'Question 1').waitFor();
  expect(await field.count()).toBe(0);
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
  const window = await openSession(browser, { historyTurns: 2 });
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

test('a running turn can be copied and opened, but not forked or run again', async () => {
  const window = await openSession(browser, { replies: [{ text: 'word '.repeat(300), pieceChars: 12, delayMs: 60 }] });
  await window.send('Talk for a while');
  await window.conversation.getByText('word word').waitFor();
  expect(await items(window, 'Talk for a while', ofMessage)).toEqual([
    'Copy',
    'Edit',
    'Pin as a rule',
    'Open in Activity',
    'Export this turn',
  ]);
  await window.page.getByRole('button', { name: 'Stop turn' }).click();
  await window.conversation.getByText('Stopped. What was done so far is kept.').waitFor();
  expect(await items(window, 'Talk for a while', ofMessage)).toContain('Retry');
});
