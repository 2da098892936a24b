// Slash commands in the message field: suggested, completed, explained, run, with their result shown in place.

import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const list = ({ page }: WindowUnderTest) => page.getByRole('listbox', { name: 'Commands' });
const result = ({ page }: WindowUnderTest, line: string) => page.getByRole('region', { name: `Result of ${line}` });

/** The text of the suggestion that the field marks as active. */
function chosen({ message }: WindowUnderTest): Promise<string | null> {
  return message.evaluate((box) => {
    const id = box.getAttribute('aria-activedescendant');
    return id === null ? null : (box.ownerDocument.getElementById(id)?.querySelector('.label')?.textContent ?? null);
  });
}

test('commands are suggested while typing, chosen by keys, and explained', async () => {
  const window = await openSession(browser);
  await window.message.fill('/');
  await list(window).waitFor();
  const names = await list(window).getByRole('option').locator('.label').allInnerTexts();
  expect(names).toEqual(expect.arrayContaining(['/run', '/read', '/calc', '/budget', '/panic', '/help']));
  expect(await chosen(window)).toBe(names[0]);
  await window.page.keyboard.press('ArrowDown');
  expect(await chosen(window)).toBe(names[1]);
  await window.page.keyboard.press('ArrowUp');
  await window.page.keyboard.press('ArrowUp');
  expect(await chosen(window)).toBe(names.at(-1));
  await window.page.keyboard.press('Escape');
  await list(window).waitFor({ state: 'detached' });
  expect(await window.message.inputValue()).toBe('/');

  // Shift+Tab leaves the field and skips the list.
  await window.message.fill('/c');
  await list(window).waitFor();
  await window.page.keyboard.press('Shift+Tab');
  await list(window).waitFor({ state: 'detached' });
  expect(await window.message.evaluate((box) => box === box.ownerDocument.activeElement)).toBe(false);

  await window.message.fill('/cal');
  await list(window).getByText('Calculate.').waitFor();
  await window.page.keyboard.press('Enter');
  await expect.poll(() => window.message.inputValue()).toBe('/calc ');
  await window.page.keyboard.type('6 * 7');
  await window.page.keyboard.press('Enter');
  await window.page.getByText('42', { exact: false }).first().waitFor();
  await expect.poll(() => window.message.inputValue()).toBe('');
  expect(window.incidents).toEqual([]);
});

test('a suggestion is chosen with the mouse, a workspace file with Tab', async () => {
  const window = await openSession(browser);
  await window.message.fill('/re');
  await list(window)
    .getByRole('option', { name: /^\/read/ })
    .click();
  await expect.poll(() => window.message.inputValue()).toBe('/read ');
  expect(await window.message.evaluate((box) => box === box.ownerDocument.activeElement)).toBe(true);
  await window.page.keyboard.type('no');
  await list(window).getByRole('option', { name: 'notes.md' }).waitFor();
  // Tab inserts an optional parameter only after it was selected.
  expect(await chosen(window)).toBe(null);
  await window.page.keyboard.press('Tab');
  await expect.poll(() => window.message.inputValue()).toBe('/read notes.md');
  await window.page.keyboard.press('Enter');
  await window.page.getByText('Buy milk.').first().waitFor();
});

test("a command's result stays until it is dismissed, and its file is stored", async () => {
  const window = await openWindow(browser, { historyTurns: 2 });
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
  await window.send('/export');
  const card = result(window, '/export');
  await card.getByText('This session as a file.').waitFor();
  const download = window.page.waitForEvent('download');
  await card.getByRole('button', { name: 'Save ses_earlier.md' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe('ses_earlier.md');
  expect(await readFile(await file.path(), 'utf8')).toContain('Question 2');
  await card.getByRole('button', { name: 'Dismiss' }).click();
  await card.waitFor({ state: 'detached' });
  await window.send('/help calc');
  await result(window, '/help calc').getByText('/calc EXPRESSION').waitFor();
  // The card belongs to its session.
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await result(window, '/help calc').waitFor({ state: 'detached' });
});

test('a wrong command shows its usage, and the typed text stays', async () => {
  const window = await openSession(browser);
  await window.send('/calc');
  await result(window, '/calc').getByText('Use it like this: /calc EXPRESSION').waitFor();
  expect(await window.message.inputValue()).toBe('/calc');
  await window.send('/clac 2 + 2');
  await result(window, '/clac 2 + 2')
    .getByText(/There is no command \/clac\..*write \/\/clac to send it as a message/)
    .waitFor();
});

test('two slashes send a message, and so does a path', async () => {
  const window = await openSession(browser, { replies: [{ text: 'One.' }, { text: 'Two.' }] });
  await window.send('//help me');
  await window.conversation.getByText('/help me', { exact: true }).waitFor();
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await window.send('/etc/hosts, what is it?');
  await window.conversation.getByText('/etc/hosts, what is it?', { exact: true }).waitFor();
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
});

test('a command that needs approval waits for it like any call', async () => {
  const window = await openSession(browser);
  await window.send('/run echo by hand > made.txt');
  await window.approval.waitFor();
  await window.page.getByText(/^Waits for your approval/).waitFor();
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await expect.poll(() => window.host.readFile('made.txt')).toBe('by hand\n');
  await window.page.getByText(/^Waits for your approval/).waitFor({ state: 'detached' });
  expect(await window.approval.count()).toBe(0);
});

test('commands start a session, resend the last message, and stop everything', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }, { text: 'Another.' }] });
  await window.send('Say something');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  await window.send('/retry');
  await window.conversation.getByText('Another.', { exact: true }).waitFor();
  await window.page.getByRole('group', { name: 'Versions of this message' }).getByText('2 of 2').waitFor();
  await window.send('/new Garden');
  await window.page.getByRole('link', { name: /^Garden/ }).waitFor();
  await window.page.getByText('What can I do for you?').waitFor();
  await window.send('/panic a spec');
  await window.page.getByRole('button', { name: 'Release panic stop' }).waitFor();
  await window.send('/release');
  await window.page.getByRole('button', { name: 'Panic stop', exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('the key for what waits leads to the card in the open conversation, and from elsewhere to Approvals', async () => {
  const window = await openWindow(browser, {
    historyTurns: 30,
    replies: [{ calls: [{ tool: 'exec', args: { command: 'npm test' } }] }, { text: 'Tested.' }],
  });
  const { page, approval } = window;
  await page.getByText('Question 30', { exact: true }).waitFor();
  await window.send('Test it');
  await approval.waitFor();
  await window.conversation.focus();
  await page.keyboard.press('Home');
  await page.getByText('Question 1', { exact: true }).waitFor();
  await window.message.focus();
  await page.keyboard.press('Alt+Shift+J');
  await expect.poll(() => approval.evaluateAll(([card]) => card === card?.ownerDocument.activeElement)).toBe(true);
  expect(page.url()).toContain('#/chat/ses_earlier');
  await window.go('Memory');
  await page.keyboard.press('Alt+Shift+J');
  await page.getByRole('heading', { level: 1, name: 'Approvals' }).waitFor();
  await approval.waitFor();
});

test('the keys of the views count the entries of the rail', async () => {
  const { page } = await openSession(browser);
  const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link');
  await links.first().waitFor();
  const names = await links.allInnerTexts();
  for (const [index, name] of names.slice(0, 10).entries()) {
    await page.keyboard.press(`Alt+Shift+${(index + 1) % 10}`);
    await expect.poll(() => links.nth(index).getAttribute('aria-current'), { message: name }).toBe('page');
  }
});
