// The view of what is at work now: turns of several sessions, a background command with its output, each opened or stopped from there.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const patience = { timeout: 15_000, interval: 20 };

test('turns, calls and background commands are seen, opened and stopped', { timeout: 120_000 }, async () => {
  const serve = { tool: 'exec', args: { command: 'echo ready; sleep 120', background: true } };
  const wait = { tool: 'exec', args: { command: 'echo under way; sleep 120' } };
  const config = { policy: { rules: [{ when: { tools: ['exec'] }, then: 'allow' as const }] } };
  const window = await openWindow(browser, { replies: [{ calls: [serve] }, { text: 'It serves.' }, { calls: [wait] }], config });
  const { page, host } = window;
  await window.send('Start the server');
  await window.conversation.getByText('It serves.', { exact: true }).waitFor();
  await window.send('Now wait');
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Running');
  const now = page.getByRole('list', { name: 'Now' });
  await now.getByText(/^Running echo under way/).waitFor();
  const commands = page.getByRole('list', { name: 'Background commands' });
  await commands.getByText('ready', { exact: true }).waitFor();
  await looksGood(page, 'running');

  await commands.getByRole('button', { name: /^Stop echo ready/ }).press('Enter');
  await commands.waitFor({ state: 'detached' });
  expect(await host.op('running.stop', { commandId: 'cmd-0-0' })).toEqual({ stopped: false });
  await now.getByRole('link', { name: /^Open/ }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Running');
  await now.getByRole('button', { name: /^Stop/ }).click();
  await page.getByText('Nothing is running.').waitFor();
  await expect.poll(() => host.op('running.list', {}), patience).toEqual({ turns: [], commands: [] });
  expect(window.incidents).toEqual([]);
});
