// An edited approval: a person changes a pending call, by mouse and by keyboard alone, and the gate judges the changed call.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const patience = { timeout: 15_000, interval: 20 };
const others = ({ approval }: WindowUnderTest) => approval.getByRole('button', { name: 'Other answers' });
const approve = ({ approval }: WindowUnderTest) => approval.getByRole('button', { name: 'Approve edited call' });
const isReady = (window: WindowUnderTest): Promise<void> => expect.poll(() => approve(window).isEnabled(), patience).toBe(true);

async function openEditor(window: WindowUnderTest): Promise<void> {
  await others(window).press('Enter');
  await window.approval.getByRole('menuitem', { name: 'Edit the call…' }).press('Enter');
}

test('a person changes a text and a path by keyboard, and the changed call is written', { timeout: 120_000 }, async () => {
  const write = { tool: 'write_file', args: { path: 'plan.md', content: 'one\ntwo\n' } };
  const window = await openSession(browser, { replies: [{ calls: [write] }, { text: 'Written.' }] });
  const { page, approval, conversation } = window;
  await window.send('Write a plan');
  await openEditor(window);
  const path = approval.getByRole('textbox', { name: 'Path' });
  await expect.poll(() => path.evaluate((field) => field === field.ownerDocument.activeElement), patience).toBe(true);
  await page.keyboard.press('Escape');
  await path.waitFor({ state: 'detached' });
  await expect.poll(() => others(window).evaluate((button) => button === button.ownerDocument.activeElement), patience).toBe(true);
  await openEditor(window);
  await path.fill('better.md');
  await approval.getByRole('textbox', { name: 'content' }).fill('three\n');
  // The card's keys type text in a field, and Enter approves nothing.
  await path.press('a');
  await path.press('Backspace');
  await path.press('Enter');
  await isReady(window);
  await looksGood(page, 'edited-approval');
  await approve(window).press('Enter');
  await conversation.getByText('Written.', { exact: true }).waitFor();
  expect([await window.host.readFile('plan.md'), await window.host.readFile('better.md')]).toEqual([null, 'three\n']);
  await conversation.getByRole('button', { name: /better\.md/ }).click();
  await conversation.getByText('Changed by a person before it ran. Asked for:').click();
  await conversation.getByText('plan.md', { exact: true }).waitFor();
  await looksGood(page, 'edited-call');
  expect(window.incidents).toEqual([]);
});

test('a command changed into a destructive one needs another approval, in red', { timeout: 120_000 }, async () => {
  const run = { tool: 'exec', args: { command: 'node build.js' } };
  const window = await openWindow(browser, { files: { 'out/a.txt': 'a' }, replies: [{ calls: [run] }, { text: 'Ran.' }] });
  const { approval } = window;
  await window.send('Build it');
  await openEditor(window);
  await approval.getByRole('textbox', { name: 'Command' }).fill('rm -rf out');
  await isReady(window);
  await approve(window).click();
  await window.page.locator('[data-approval].grave').waitFor();
  expect(await window.host.readFile('out/a.txt')).toBe('a');
  await approval.getByRole('button', { name: 'Deny' }).click();
  await window.conversation.getByText('Ran.', { exact: true }).waitFor();
  expect(await window.host.readFile('out/a.txt')).toBe('a');
  expect(window.incidents).toEqual([]);
});

test('an invalid change is explained, and the approval stays open', { timeout: 120_000 }, async () => {
  const write = { tool: 'write_file', args: { path: 'plan.md', content: 'one' } };
  const window = await openSession(browser, { replies: [{ calls: [write] }, { text: 'Written.' }] });
  const { approval, page } = window;
  await window.send('Write a plan');
  await openEditor(window);
  await approval.getByRole('textbox', { name: 'content' }).fill('key AKIAIOSFODNN7EXAMPLE');
  await isReady(window);
  await approve(window).click();
  await page.getByText('The changed call holds a secret').first().waitFor();
  expect(await approval.getByRole('textbox', { name: 'content' }).inputValue()).toContain('AKIA');
  expect(((await window.host.op('approval.list', {})) as { approvals: unknown[] }).approvals.length).toBe(1);
});
