// Health: checks with advice, the log verified, backups created and verified.

import { chmodSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('each check shows its state and purpose, and a failed one links to the fix', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await window.go('Health');
  const checks = page.getByRole('list', { name: 'Checks', exact: true });
  // If all checks pass, they are one line that opens.
  await page.getByText(/^\d+ checks passed$/).click();
  const passed = page.getByRole('list', { name: 'Passed checks' });
  await passed.getByText('The database is sound').waitFor();
  expect(await passed.getByRole('heading', { name: /^Database OK$/ }).count()).toBe(1);
  expect(await checks.count()).toBe(0);
  // Without a model there is something to do, with a link to where it is done.
  await page.route('**/api/ops/health.check', async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as { result: { ok: boolean; checks: { id: string; ok: boolean }[] } };
    reply.result.ok = false;
    const broken = { ok: false, detail: 'No model.', fix: 'Start a local model server or add a provider to config.yaml.' };
    reply.result.checks = reply.result.checks.map((check) => (check.id === 'model' ? { ...check, ...broken } : check));
    await route.fulfill({ response, json: reply });
  });
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText('1 check needs attention.').waitFor();
  await expect.poll(() => checks.getByRole('heading').first().innerText()).toMatch(/^Model/);
  expect(await violations(page)).toEqual([]);
  await checks.getByRole('link', { name: 'Choose a model' }).click();
  await page.getByRole('heading', { name: 'Models and providers' }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('a stop is released from its check', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await window.host.op('panic.engage', { reason: 'a look at health' });
  await window.go('Health');
  const checks = page.getByRole('list', { name: 'Checks', exact: true });
  // The button leads to the confirmation in the banner.
  await checks.getByRole('button', { name: 'Release the stop…' }).click();
  expect(await window.host.op('panic.status', {})).toMatchObject({ engaged: true });
  await page.getByRole('button', { name: 'Yes, release panic stop' }).click();
  await checks.waitFor({ state: 'hidden' });
  expect(await window.host.op('panic.status', {})).toMatchObject({ engaged: false });
});

test('a finding that can be repaired is repaired by its button', async () => {
  let home = '';
  const before = (folder: string): Promise<void> => Promise.resolve(void (home = folder));
  const window = await openWindow(browser, { before });
  const { page } = window;
  chmodSync(home, 0o755);
  await window.go('Health');
  const checks = page.getByRole('list', { name: 'Checks', exact: true });
  await checks.getByText(/^What to do: Makes .+ readable only for you/).waitFor();
  expect(await checks.getByText('trayclaw doctor').count()).toBe(0);
  expect(await violations(page)).toEqual([]);
  await checks.getByRole('button', { name: 'Repair: Data folder permissions' }).press('Enter');
  await page.getByText('Closed 1 place to others.').first().waitFor();
  await checks.waitFor({ state: 'hidden' });
  expect(statSync(home).mode & 0o077).toBe(0);
  expect(await page.evaluate('document.activeElement.localName')).toBe('main');
  expect(window.incidents).toEqual([]);
});

test('a repair that loses something takes a second press', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const damaged = { id: 'artifacts', ok: false, detail: '1 artifact is missing.', repair: { will: ['Drops its name.'], harmless: false } };
  await page.route('**/api/ops/health.check', (route) => route.fulfill({ json: { ok: true, result: { ok: false, checks: [damaged] } } }));
  let repairs = 0;
  await page.route('**/api/ops/health.fix', (route) => {
    repairs += 1;
    return route.fulfill({
      json: { ok: true, result: { checkId: 'artifacts', harmless: false, will: [], did: ['Gave up 1 artifact.'], check: null } },
    });
  });
  await window.go('Health');
  await page.getByRole('button', { name: 'Repair: Artifacts', exact: true }).click();
  const sure = page.getByRole('button', { name: 'Yes, repair: Artifacts' });
  await sure.waitFor();
  expect(repairs).toBe(0);
  await sure.click();
  await page.getByText('Gave up 1 artifact.').first().waitFor();
  expect(repairs).toBe(1);
});

test('a backup is created and verified, and the restore command is exact', async () => {
  const window = await openWindow(browser, { historyTurns: 2 });
  const { page } = window;
  await window.go('Health');
  await page.getByText('No backups yet.').waitFor();
  await page.getByRole('button', { name: 'Make a backup' }).click();
  await page.getByText(/^Created and verified: \d+ events, .+B\.$/).waitFor();
  const list = page.getByRole('list', { name: 'Backups' });
  await list.getByRole('button', { name: /^Verify trayclaw/ }).click();
  await list.getByText(/^Intact: \d+ events\.$/).waitFor();
  const { backups } = (await window.host.op('backup.list', {})) as { backups: { file: string }[] };
  expect(backups).toHaveLength(1);
  // The name alone, because a path may contain blanks.
  const command = page.getByText(`trayclaw backup restore ${basename(backups[0]?.file ?? '')}`, { exact: true });
  expect(await command.count()).toBe(0);
  await list.getByRole('button', { name: /^Restore trayclaw/ }).press('Enter');
  await command.waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => command.count()).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('a log with a gap says what is missing and where it is accepted', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  const hint = 'Restore a backup, or continue with the current log: trayclaw audit accept';
  const fault = { kind: 'gap', detail: '3 events are missing from the end of the log.', hint };
  const result = { ok: false, events: 2, sessions: 1, faults: [fault] };
  await page.route('**/api/ops/audit.verify', (route) => route.fulfill({ json: { ok: true, result } }));
  await window.go('Health');
  await page.getByRole('button', { name: 'Verify the log' }).click();
  const verification = page.getByRole('status', { name: 'Log verification' });
  await verification.getByText(/^Broken\.\s+3 events are missing from the end of the log\.\s+Restore a backup/).waitFor();
  await verification.getByRole('link', { name: 'Health' }).waitFor();
});

test('the log is verified by its button', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  await window.page.goto(`${window.host.origin}/#/health`);
  await window.page.getByRole('button', { name: 'Verify the log' }).click();
  await window.page
    .getByRole('status', { name: 'Log verification' })
    .getByText(/^Intact: \d+ events in \d+ sessions?\.$/)
    .waitFor();
});
