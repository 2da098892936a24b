// Undo in the window: what a call would change and did change, undoing it, redoing it, and a refusal in words.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood, violations } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const edit = { tool: 'edit_file', args: { path: 'notes.md', old: 'Buy milk.', new: 'Buy bread.\nBuy p\u0430per.' } };
const write = { tool: 'write_file', args: { path: 'plans/list.md', content: '# List\n' } };
const before = '# Notes\n\nBuy milk.\n';
const after = '# Notes\n\nBuy bread.\nBuy p\u0430per.\n';

/** Lets the agent change two files, with an approval for each. */
async function changeTwoFiles(window: WindowUnderTest): Promise<void> {
  await window.send('Change my notes and start a list');
  await window.approval.getByRole('button', { name: 'Approve once' }).first().click();
  await window.conversation.getByText('plans/list.md').first().waitFor();
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Both are done.', { exact: true }).waitFor();
}

const replies = [{ calls: [edit] }, { calls: [write] }, { text: 'Both are done.' }];

test('a waiting call shows its change; once done it is undone and redone', async () => {
  const window = await openWindow(browser, { replies });
  const { page } = window;
  await window.send('Change my notes and start a list');
  await window.approval.waitFor();
  await page.getByRole('button', { name: /^Wants to edit notes\.md/ }).click();
  const differences = page.getByRole('group', { name: 'Differences in notes.md' });
  // Shown both in the approval and at the call.
  await differences.nth(1).waitFor();
  for (const difference of await differences.all()) {
    expect(await difference.locator('ins').allInnerTexts()).toEqual(['+Buy bread.', expect.stringMatching(/^\+Buy p.+per\.$/)]);
    expect(await difference.locator('del').allInnerTexts()).toEqual(['-Buy milk.']);
    expect(await difference.locator('mark').count()).toBe(1);
  }
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Both are done.', { exact: true }).waitFor();

  const undo = page.getByRole('button', { name: 'Undo', exact: true });
  await undo.waitFor();
  expect(await page.getByText('2 lines added, 1 line removed').count()).toBe(1);
  await undo.focus();
  await page.keyboard.press('Enter');
  await window.conversation.getByText('1 file put back.', { exact: true }).waitFor();
  expect(await window.host.readFile('notes.md')).toBe(before);
  await page.getByRole('button', { name: 'Redo' }).click();
  await undo.waitFor();
  expect(await window.host.readFile('notes.md')).toBe(after);
  expect(await violations(page)).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('a turn is undone completely, except what a person changed since', async () => {
  const window = await openWindow(browser, { replies });
  const { page } = window;
  await changeTwoFiles(window);
  const all = page.getByRole('button', { name: 'Undo changes' });
  await window.host.writeFile('notes.md', `${after}And mine.\n`);
  await all.click();
  await page.getByText('It was changed since.').waitFor();
  expect(await window.host.readFile('plans/list.md')).toBe('# List\n');
  await looksGood(page, 'refused', () => page.getByText('It was changed since.').scrollIntoViewIfNeeded());
  await page.getByRole('button', { name: 'Put back the others' }).click();
  await window.conversation.getByText('1 file put back. 1 file not put back.').waitFor();
  expect(await window.host.readFile('plans/list.md')).toBe(null);
  expect(await window.host.readFile('notes.md')).toBe(`${after}And mine.\n`);
  expect(window.incidents).toEqual([]);
});

test('the difference looks the same light and dark, wide and narrow', async () => {
  const window = await openWindow(browser, { replies });
  const { page } = window;
  await changeTwoFiles(window);
  await page.getByRole('button', { name: /^Edited notes\.md/ }).click();
  await page.getByRole('group', { name: 'Differences in notes.md' }).waitFor();
  await looksGood(page, 'undo-card', () => page.getByRole('button', { name: 'Undo', exact: true }).scrollIntoViewIfNeeded());
  await page.getByRole('button', { name: 'Undo changes' }).click();
  await window.conversation.getByText('2 files put back.', { exact: true }).waitFor();
  expect([await window.host.readFile('notes.md'), await window.host.readFile('plans/list.md')]).toEqual([before, null]);
});
