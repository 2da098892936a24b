// A session in a folder of the person's choice: started in the window, trusted there, and shown in the header.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('a folder is chosen, trusted and used, and offered the next time', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-folder-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, 'garden');
  mkdirSync(project);
  writeFileSync(join(project, 'plan.md'), 'beans');
  const window = await openWindow(browser, {
    replies: [{ calls: [{ tool: 'list_dir', args: {} }] }, { text: 'There is a plan.' }],
  });
  const { page } = window;
  const dialog = page.getByRole('dialog', { name: 'Work in a folder' });
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  await dialog.getByLabel('Folder path').fill('/etc');
  await dialog.getByText('Cannot be a workspace:').waitFor();
  expect(await dialog.getByRole('button', { name: 'Work here' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Folder path').fill(project);
  await dialog.getByText('Not trusted yet:').waitFor();
  await dialog.getByText('without asking').waitFor();
  await dialog.getByRole('button', { name: 'Trust and work here' }).click();
  await page.getByRole('button', { name: `Works in ${project}` }).waitFor();
  await window.send('What is here?');
  await window.conversation.getByText('There is a plan.').waitFor();
  // A session keeps its folder, so none is offered.
  expect(await page.getByRole('button', { name: 'Work in a folder…' }).count()).toBe(0);

  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect(await page.getByRole('button', { name: `Works in ${project}` }).count()).toBe(0);
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  await dialog.getByRole('list', { name: 'Trusted folders' }).getByRole('button', { name: project }).click();
  await page.getByRole('button', { name: `Works in ${project}` }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('a repository is used through a worktree; its instructions apply once read', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-folder-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const project = join(root, 'garden');
  mkdirSync(project);
  writeFileSync(join(project, 'AGENTS.md'), 'Answer in one line.\n');
  writeFileSync(join(project, 'seed plan.md'), 'beans');
  const own = ['-c', 'user.name=T', '-c', 'user.email=t@example.org'];
  for (const args of [
    ['init', '-q'],
    ['add', '-A'],
    ['commit', '-qm', 'first'],
  ])
    execFileSync('git', [...own, ...args], { cwd: project });
  const window = await openWindow(browser, { replies: [{ text: 'Beans it is.' }] });
  const { page } = window;
  const dialog = page.getByRole('dialog', { name: 'Work in a folder' });
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  await dialog.getByLabel('Folder path').fill(project);
  await dialog.getByRole('checkbox', { name: 'In a new git worktree' }).check();
  await looksGood(page, 'folder-dialog');
  await dialog.getByRole('button', { name: 'Trust and work here' }).click();
  await window.approval.getByText('garden/.trayclaw/worktrees/session-').first().waitFor();
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  const panel = page.getByRole('dialog', { name: 'Folder of this session' });
  await panel.getByText('Answer in one line.').waitFor();
  await looksGood(page, 'folder-panel');
  await panel.getByRole('button', { name: 'Follow these instructions' }).click();
  await panel.getByText('TrayClaw follows this text.').waitFor();
  await panel.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Review', exact: true }).waitFor({ state: 'detached' });

  await window.message.pressSequentially('Read @plan');
  await page.getByRole('listbox', { name: 'Files of the folder' }).getByRole('option', { name: 'seed plan.md' }).waitFor();
  await looksGood(page, 'mention');
  await window.message.press('Enter');
  expect(await window.message.inputValue()).toBe('Read @"seed plan.md" ');
  await window.message.press('Control+z');
  expect(await window.message.inputValue()).toBe('Read @plan');
  await window.message.press('Control+Shift+z');
  expect(await window.message.inputValue()).toBe('Read @"seed plan.md" ');
  await window.message.press('Enter');
  await window.conversation.getByText('Beans it is.').waitFor();
  await window.conversation.getByText('seed plan.md', { exact: true }).waitFor();

  await page.getByRole('button', { name: /^Works in / }).click();
  const { worktrees } = (await window.host.op('worktree.list', { folder: project })) as { worktrees: { path: string }[] };
  const path = worktrees[0]?.path ?? '';
  writeFileSync(join(path, 'draft.md'), 'mine');
  await panel.getByRole('button', { name: /^Remove the worktree/ }).click();
  await panel.getByRole('button', { name: 'Close' }).click();
  // The file is newer than the list in the panel, so the host refuses.
  expect(existsSync(join(path, 'draft.md'))).toBe(true);
  await page.getByRole('button', { name: /^Works in / }).click();
  await panel.getByRole('button', { name: /^Remove the worktree/ }).click();
  await panel.getByText('draft.md').waitFor();
  await looksGood(page, 'folder-loses');
  await panel.getByRole('button', { name: 'Keep' }).click();
  expect(existsSync(join(path, 'draft.md'))).toBe(true);
  expect(window.incidents).toEqual([]);
});
