// The policy page: the rules in force, their order, and a form that shows the decision about a call without making it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function toPolicy(window: WindowUnderTest): Promise<void> {
  await window.go('Approvals');
  await window.page.getByRole('navigation', { name: 'Approval pages' }).getByRole('link', { name: 'Policy' }).click();
  await window.page.getByRole('form', { name: 'Try it' }).waitFor();
}

async function tryCall(window: WindowUnderTest, tool: string, values: Readonly<Record<string, string>>): Promise<string> {
  const form = window.page.getByRole('form', { name: 'Try it' });
  await form.getByLabel('Tool', { exact: true }).selectOption(tool);
  for (const [name, value] of Object.entries(values)) await form.getByRole('textbox', { name: new RegExp(`^${name}\\b`) }).fill(value);
  await form.getByRole('button', { name: 'What would happen?' }).click();
  return form.getByRole('status', { name: 'What would happen' }).innerText();
}

test('a call is tried: allowed, asked or refused, with rule, reason and position', async () => {
  const window = await openSession(browser);
  const { page } = window;
  const rules = [{ when: { paths: ['archive'] }, then: 'deny', reason: 'The archive is finished' }];
  await window.host.op('config.set', { key: 'policy.rules', value: rules });
  await window.host.stop();
  await window.host.start();
  await window.openAddress();
  await page.reload();
  await toPolicy(window);
  const order = page.getByRole('list', { name: 'Order of rules' });
  const marked = order.locator('[aria-current="step"]');

  expect(await tryCall(window, 'exec', { command: 'npm test' })).toMatch(/It would ask you\.[\s\S]*ask\.exec/);
  expect(await marked.innerText()).toContain('Everything else asks.');
  expect(await tryCall(window, 'read_file', { path: 'notes.md' })).toMatch(/It would run without asking\.[\s\S]*read\.workspace/);
  expect(await marked.innerText()).toContain('Reading inside the workspace is allowed');
  expect(await tryCall(window, 'write_file', { path: 'archive/a.md', content: 'x' })).toMatch(
    /It would be refused\.[\s\S]*The archive is finished[\s\S]*rule\.deny/,
  );
  expect(await marked.innerText()).toContain('One of your rules refuses.');
  expect(await window.host.readFile('archive/a.md')).toBe(null);
  const { approvals } = (await window.host.op('approval.list', { all: true })) as { approvals: unknown[] };
  expect(approvals).toEqual([]);

  await page.getByRole('form', { name: 'Try it' }).getByLabel('Tool', { exact: true }).selectOption('read_file');
  await page.getByRole('button', { name: 'What would happen?' }).click();
  await page.getByRole('form', { name: 'Try it' }).getByRole('alert').waitFor();
  expect(await marked.count()).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('the page shows what is in force, and looks right in all themes and widths', { timeout: 150_000 }, async () => {
  const window = await openSession(browser);
  const { page } = window;
  await toPolicy(window);
  await page.getByText('Reading inside the workspace is free. Everything else asks.').waitFor();
  await page.getByText('Commands: 60 a minute').waitFor();
  expect(await page.getByRole('list', { name: 'Order of rules' }).getByRole('listitem').count()).toBe(19);
  await tryCall(window, 'exec', { command: 'npm test' });
  expect(window.incidents).toEqual([]);
  await looksGood(page, 'policy');
});
