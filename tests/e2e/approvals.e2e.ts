// Permissions in the window: the scopes of an approval, past calls that they cover, grants, and the policy in force.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const writes = (path: string) => ({ calls: [{ tool: 'write_file', args: { path, content: 'x' } }] });

test('after an example task is approved by keyboard, the focus is in the conversation', async () => {
  const window = await openWindow(browser, { usesDemo: true });
  const { page } = window;
  const role = () => page.evaluate('document.activeElement?.role');
  await page
    .getByRole('list', { name: 'Example tasks' })
    .getByRole('button', { name: /Make a to-do list/ })
    .press('Enter');
  const approve = window.approval.getByRole('button', { name: 'Approve once' });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  expect(await role()).toBe('log');
  await approve.press('Space');
  await window.conversation.getByText(/Done\. I listed/).waitFor();
  await expect.poll(role).toBe('log');
});

test('a wider scope is chosen by keyboard, listed with its use, and revoked', async () => {
  const window = await openWindow(browser, {
    replies: [writes('notes/a.md'), { text: 'One.' }, writes('notes/b.md'), { text: 'Two.' }, writes('notes/c.md'), { text: 'Three.' }],
  });
  const { page, approval } = window;
  await window.send('Write one');
  await approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('One.', { exact: true }).waitFor();

  await window.send('Write two');
  await approval.getByRole('button', { name: 'Allow more…' }).click();
  const scopes = approval.getByRole('group', { name: 'A wider approval would cover' });
  const [narrow, wide] = [
    scopes.getByRole('radio', { name: 'write_file for files under notes/' }),
    scopes.getByRole('radio', { name: 'any tool or command that only changes files under notes/' }),
  ];
  expect(await narrow.isChecked()).toBe(true);
  await approval.getByText('Would have covered 1 call in 30 days, 1 of them asked.').waitFor();
  await narrow.focus();
  await page.keyboard.press('ArrowDown');
  expect(await wide.isChecked()).toBe(true);
  await approval.getByRole('button', { name: 'Approve until revoked' }).click();
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
  await window.send('Write three');
  await window.conversation.getByText('Three.', { exact: true }).waitFor();

  await window.go('Approvals');
  await page.getByRole('list', { name: 'History' }).getByRole('link', { name: 'write notes/a.md' }).waitFor();
  const grants = page.getByRole('list', { name: 'Grants' });
  await grants.getByText(/used 2 times/).waitFor();
  await grants.getByRole('button', { name: 'Past calls: any tool or command that only changes files under notes/' }).click();
  await page.getByRole('list', { name: 'Past calls it covers' }).getByText('write notes/c.md').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('list', { name: 'Past calls it covers' }).count()).toBe(0);
  await grants.getByRole('button', { name: 'Revoke: any tool or command that only changes files under notes/' }).click();
  await page.getByText('No grants yet.').waitFor();
  expect(window.incidents).toEqual([]);
});

test('the policy in force is shown, and one of its rules refuses a call', async () => {
  const window = await openWindow(browser, { replies: [writes('archive/a.md'), { text: 'It was refused.' }] });
  const rules = [{ when: { paths: ['archive'] }, then: 'deny', reason: 'The archive is finished' }];
  await window.host.op('config.set', { key: 'policy.rules', value: rules });
  await window.host.op('config.set', { key: 'policy.allowCommands', value: ['git status'] });
  await window.host.stop();
  await window.host.start();
  await window.openAddress();
  await window.page.reload();
  await window.send('Write into the archive');
  await window.conversation.getByText('It was refused.', { exact: true }).waitFor();
  expect(await window.host.readFile('archive/a.md')).toBe(null);
  await window.go('Approvals');
  await window.page.getByRole('navigation', { name: 'Approval pages' }).getByRole('link', { name: 'Policy' }).click();
  await window.page.getByRole('list', { name: 'Policy rules' }).getByText('The archive is finished').waitFor();
  await window.page.getByText('git status').waitFor();
  await window.page.getByText('Commands: 60 a minute').waitFor();
  expect(window.incidents).toEqual([]);
});

test('of a long difference a part is drawn in each frame, until all of it is there', async () => {
  const content = Array.from({ length: 250 }, (_, at) => `line ${at}`).join('\n');
  const window = await openWindow(browser, { replies: [{ calls: [{ tool: 'write_file', args: { path: 'long.md', content } }] }] });
  const { page, approval } = window;
  const lines = approval.locator('ins');
  await window.send('Write it');
  await expect.poll(() => lines.count()).toBe(250);
  await window.go('Memory');
  await page.getByText('Nothing is remembered yet.').waitFor();
  await page.evaluate('(held = [], draws = requestAnimationFrame, requestAnimationFrame = (frame) => held.push(frame))');
  await window.go('Chat');
  await lines.first().waitFor();
  expect(await lines.count()).toBe(100);
  await page.evaluate('(requestAnimationFrame = draws, held.forEach((frame) => frame(0)))');
  await expect.poll(() => lines.count()).toBe(250);
  expect(window.incidents).toEqual([]);
});
