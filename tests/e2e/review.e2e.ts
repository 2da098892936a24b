// The review of changed files: side-by-side differences, undo of one part, one file and all, restoring to before a message, and several
// approvals answered together.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const patience = { timeout: 15_000, interval: 20 };
const numbered = (changes: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 40 }, (_, index) => `${changes[index + 1] ?? `line ${index + 1}`}\n`).join('');
const writes = (path: string, content: string) => ({ tool: 'write_file', args: { path, content } });
const two = [writes('a.md', numbered({ 5: 'line five', 30: 'line thirty' })), writes('b.md', 'new\n')];
const options = {
  replies: [{ calls: two }, { text: 'Both written.' }, { calls: [writes('c.md', 'later\n')] }, { text: 'Another one.' }],
  files: { 'a.md': numbered() },
  config: { policy: { mode: 'workspace-free' } },
} as const;

async function openReview(window: WindowUnderTest): Promise<void> {
  await window.send('Write two files');
  await window.conversation.getByText('Both written.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'Review', exact: true }).click();
  await window.page.getByRole('button', { name: 'Undo part 2 of a.md' }).waitFor();
}

test('a part, the file and all of it are undone; each can be redone', { timeout: 150_000 }, async () => {
  const window = await openWindow(browser, options);
  const { page, host } = window;
  await openReview(window);
  await looksGood(page, 'review');
  expect(await page.locator('del').count()).toBe(2);
  expect(await page.locator('del strong').allInnerTexts()).toEqual(['5', '30']);

  await page.getByRole('button', { name: 'Undo part 1 of a.md' }).press('Enter');
  await expect.poll(() => host.readFile('a.md'), patience).toBe(numbered({ 30: 'line thirty' }));
  await page.getByRole('main').getByText('The part was put back.').waitFor();
  expect(await page.getByRole('button', { name: /^Undo part/ }).count()).toBe(0);
  expect(await page.evaluate<boolean>('document.activeElement !== document.body')).toBe(true);
  await page.getByRole('button', { name: 'Redo', exact: true }).click();
  await expect.poll(() => host.readFile('a.md'), patience).toBe(numbered({ 5: 'line five', 30: 'line thirty' }));

  await page.getByRole('button', { name: 'Undo file b.md' }).click();
  await expect.poll(() => host.readFile('b.md'), patience).toBe(null);
  await page.getByRole('button', { name: 'Undo all', exact: true }).click();
  await expect.poll(() => host.readFile('a.md'), patience).toBe(numbered());
  await page.getByText('No file is changed.').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent.trim()'), patience).toBe('Review');
  expect(window.incidents).toEqual([]);
});

test('a difference is coloured by language, over the unchanged text', { timeout: 90_000 }, async () => {
  const before = "const name = 'a';\nexport function run(): number {\n  return 1;\n}\n";
  const edit = { tool: 'edit_file', args: { path: 'a.ts', old: 'return 1', new: 'return 2' } };
  const window = await openWindow(browser, { replies: [{ calls: [edit] }, { text: 'Changed.' }], files: { 'a.ts': before } });
  await window.send('Change it');
  await window.approval.locator('ins').waitFor();
  const coloured = (name: string) =>
    window.page.evaluate<string[]>(`[...(CSS.highlights.get('code-${name}') ?? [])].map((range) => range.toString()).sort()`);
  await expect
    .poll(() => coloured('keyword'), patience)
    .toEqual(expect.arrayContaining(['const', 'export', 'function', 'return', 'return']));
  expect(await coloured('string')).toEqual(['a']);
  // Colours are drawn over the text: the text is unchanged, and no line number or sign is coloured.
  expect(await window.approval.locator('ins').innerText()).toBe('+  return 2;');
  await looksGood(window.page, 'coloured-approval');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Changed.', { exact: true }).waitFor();
  await expect.poll(() => coloured('keyword'), patience).toEqual([]);
  await window.page.getByRole('button', { name: 'Review', exact: true }).click();
  await expect.poll(async () => (await coloured('keyword')).length, patience).toBeGreaterThan(4);
  await looksGood(window.page, 'coloured-review');
  expect(window.incidents).toEqual([]);
});

test('a file edited since is not restored without asking, and the reason is shown', { timeout: 90_000 }, async () => {
  const window = await openWindow(browser, options);
  const { page, host } = window;
  await openReview(window);
  await host.writeFile('b.md', 'mine\n');
  await page.getByRole('button', { name: 'Undo all', exact: true }).click();
  await page.getByRole('main').getByText('1 file not put back.').waitFor();
  await page.getByText('It was changed since.').first().waitFor();
  expect([await host.readFile('b.md'), await host.readFile('a.md')]).toEqual(['mine\n', numbered({ 5: 'line five', 30: 'line thirty' })]);
  await page.getByRole('button', { name: 'Put back the others' }).click();
  await expect.poll(() => host.readFile('a.md'), patience).toBe(numbered());
  expect(await host.readFile('b.md')).toBe('mine\n');
  expect(window.incidents).toEqual([]);
});

test('restoring to before a message puts its files back and opens a new session', { timeout: 90_000 }, async () => {
  const window = await openWindow(browser, options);
  const { page, host } = window;
  await window.send('Write two files');
  await window.conversation.getByText('Both written.', { exact: true }).waitFor();
  await window.send('Write one more');
  await window.conversation.getByText('Another one.', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Actions for your message' }).last().click();
  await page.getByRole('menuitem', { name: 'Go back to here…' }).click();
  await page.getByText('1 file changed').last().waitFor();
  await looksGood(page, 'rewind');
  await page.getByRole('button', { name: 'Files and conversation' }).click();
  await expect.poll(() => host.readFile('c.md'), patience).toBe(null);
  await expect.poll(() => window.message.inputValue(), patience).toBe('Write one more');
  await window.conversation.getByText('Both written.', { exact: true }).waitFor();
  expect(await window.conversation.getByText('Another one.').count()).toBe(0);
  expect(await host.readFile('b.md')).toBe('new\n');
  expect(window.incidents).toEqual([]);
});

test('several approvals of a turn are answered together, but never a serious one', { timeout: 120_000 }, async () => {
  const replies = [
    { calls: [writes('one.md', 'x\n'), writes('two.md', 'x\n'), { tool: 'exec', args: { command: 'rm -rf build dist' } }] },
    { text: 'Over.' },
    { calls: [writes('three.md', 'x\n'), writes('four.md', 'x\n')] },
    { text: 'Left alone.' },
  ];
  const window = await openWindow(browser, { replies });
  const { page, approval, host } = window;
  await window.send('Do three things');
  await page.getByRole('button', { name: 'Approve 2 of 3 once' }).click();
  await expect.poll(() => approval.count(), patience).toBe(1);
  await approval.getByRole('heading', { name: /Deletes build and dist/ }).waitFor();
  await approval.getByRole('button', { name: 'Deny' }).click();
  await window.conversation.getByText('Over.', { exact: true }).waitFor();
  expect([await host.readFile('one.md'), await host.readFile('two.md')]).toEqual(['x\n', 'x\n']);
  await window.send('Two more');
  await page.getByRole('button', { name: 'Approve all 2 once' }).waitFor();
  await looksGood(page, 'together');
  await page.getByRole('button', { name: 'Deny all' }).click();
  await window.conversation.getByText('Left alone.', { exact: true }).waitFor();
  expect(await host.readFile('three.md')).toBe(null);
  expect(window.incidents).toEqual([]);
});
