// A session in a folder of the person's own: begun in the window, trusted there, and shown in the header.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('a folder is chosen, trusted and worked in, and trusted ones are offered the next time', async () => {
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
  await page.getByRole('img', { name: `Works in ${project}` }).waitFor();
  await window.send('What is here?');
  await window.conversation.getByText('There is a plan.').waitFor();
  // A session keeps its folder.
  expect(await page.getByRole('button', { name: 'Work in a folder…' }).count()).toBe(0);

  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  expect(await page.getByRole('img', { name: `Works in ${project}` }).count()).toBe(0);
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  await dialog.getByRole('list', { name: 'Trusted folders' }).getByRole('button', { name: project }).click();
  await page.getByRole('img', { name: `Works in ${project}` }).waitFor();
  expect(window.incidents).toEqual([]);
});
