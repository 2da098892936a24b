// Other programs in the settings of a browser: they are listed, and a link fills a form. A browser cannot approve anything there.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function openAt(section: string, options: Parameters<typeof openWindow>[1] = {}): Promise<WindowUnderTest> {
  const window = await openWindow(browser, options);
  await window.page.evaluate(`location.hash = '#/settings/${section}'`);
  await window.page.locator(`[data-section="${section.split('/')[0]}"]`).waitFor();
  return window;
}

test('servers and doors are listed, and a browser cannot approve', { timeout: 120_000 }, async () => {
  const servers = { files: { command: 'npx', args: ['server', '/home/ada'] }, web: { url: 'https://a.example/mcp', enabled: false } };
  const window = await openAt('mcp', { config: { mcp: { servers } } });
  const { page } = window;
  const list = page.getByRole('list', { name: 'MCP servers' });
  await list.getByText('waits for your approval').waitFor();
  await list.getByText('switched off').waitFor();
  await page.getByText('In a browser this list is only shown').first().waitFor();
  expect(await list.getByRole('button').count()).toBe(0);
  // A server is listed once; its other fields open on demand.
  const row = page.locator('[data-key="mcp.servers"]');
  expect(await row.isVisible()).toBe(false);
  await looksGood(page, 'mcp-servers');
  await page.getByText('All fields of the servers').click();
  await row.getByText('npx').waitFor();
  await page.evaluate("location.hash = '#/settings/doors'");
  await page.getByText('Model Context Protocol', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Make a token' }).count()).toBe(0);
  await looksGood(page, 'doors');
  expect(window.incidents).toEqual([]);
});

test('a link fills the form, shows all fields and adds nothing', { timeout: 120_000 }, async () => {
  const window = await openAt('mcp/name%3Dfiles%26command%3Dnpx%26arg%3D-y%26arg%3Da%2520%25E2%2580%25AEserver');
  const { page } = window;
  const form = page.getByRole('form', { name: 'Add a server' });
  await form.getByText('A link wants this server added').waitFor();
  expect(await form.locator('mark').count()).toBe(1);
  expect(await page.getByLabel('Arguments, one on each line').inputValue()).toBe('-y\na \u202Eserver');
  expect(await form.getByRole('button', { name: 'Add', exact: true }).isEnabled()).toBe(false);
  await looksGood(page, 'mcp-link');
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await window.host.op('mcp.list', {})).toMatchObject({ servers: [] });
  await page.evaluate("location.hash = '#/settings/mcp/name%3Dx%26command%3Dsh%26env%3DA'");
  await page.getByText('The link for an MCP server is not valid.').waitFor();
});
