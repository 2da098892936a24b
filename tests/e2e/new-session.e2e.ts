// Text typed or sent while a session is made: it goes to that session, for each way of making one.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Holds the requests of an operation until they are let go, one after the other. */
async function hold({ page }: WindowUnderTest, op: string): Promise<{ readonly count: () => number; readonly letGo: () => void }> {
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  const held: (() => void)[] = [];
  let count = 0;
  await page.route(`**/api/ops/${op}`, async (route) => {
    count += 1;
    await new Promise<void>((resume) => held.push(resume));
    await route.continue();
  });
  return { count: () => count, letGo: () => held.shift()?.() };
}

async function trusted(window: WindowUnderTest): Promise<string> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-folder-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'garden');
  mkdirSync(folder);
  await window.host.op('workspace.trust', { path: folder });
  return folder;
}

const model = ({ page }: WindowUnderTest) => page.getByRole('combobox', { name: 'Model of this session' });

async function sessionsOf(window: WindowUnderTest): Promise<{ lastText: string; model: string | null; workspace?: string | null }[]> {
  return ((await window.host.op('session.list', {})) as { sessions: { lastText: string; model: string | null }[] }).sessions;
}

test('what was written before a model is chosen at the first start stays in the field', async () => {
  const window = await openWindow(browser);
  await window.page.getByText('What can I do for you?').waitFor();
  await window.message.fill('When does the train leave?');
  await window.page
    .locator('input[type=file]')
    .setInputFiles([{ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('Eggs.\n') }]);
  await window.page.getByRole('list', { name: 'Attached files' }).getByText('list.txt').waitFor();
  await model(window).selectOption('demo/offline');
  await expect.poll(() => window.page.url()).toMatch(/#\/chat\/.+/);
  expect(await window.message.inputValue()).toBe('When does the train leave?');
  expect(await window.page.getByRole('list', { name: 'Attached files' }).getByText('list.txt').count()).toBe(1);
});

test('what is sent while a model is chosen at the first start goes to the session that has the model', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'It leaves at nine.' }] });
  await window.page.getByText('What can I do for you?').waitFor();
  const making = await hold(window, 'session.create');
  await model(window).selectOption('lab/scripted');
  await expect.poll(making.count).toBe(1);
  await window.message.focus();
  await window.page.keyboard.type('When does the train leave?');
  await window.page.keyboard.press('Enter');
  making.letGo();
  await window.conversation.getByText('It leaves at nine.').waitFor();
  expect(await window.message.inputValue()).toBe('');
  expect(await sessionsOf(window)).toMatchObject([{ lastText: 'It leaves at nine.', model: 'lab/scripted' }]);
});

test('what is written and sent while a folder is opened goes to the session in the folder', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Beans.' }] });
  const { page } = window;
  const folder = await trusted(window);
  await window.message.fill('What grows ');
  const making = await hold(window, 'session.create');
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Work in a folder' });
  await dialog.getByRole('list', { name: 'Trusted folders' }).getByRole('button', { name: folder }).click();
  await expect.poll(making.count).toBe(1);
  await dialog.press('Escape');
  await window.message.focus();
  await page.keyboard.press('End');
  await page.keyboard.type('here?');
  await page.keyboard.press('Enter');
  making.letGo();
  await window.conversation.getByText('Beans.').waitFor();
  await window.conversation.getByText('What grows here?').waitFor();
  expect(await sessionsOf(window)).toMatchObject([{ lastText: 'Beans.', workspace: folder }]);
});

test('what was written in an empty session goes along to the folder it is opened in', async () => {
  const window = await openSession(browser);
  const { page } = window;
  const folder = await trusted(window);
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(() => page.url()).toMatch(/#\/chat\/.+/);
  await window.message.fill('What grows here?');
  await page.getByRole('button', { name: 'Work in a folder…' }).click();
  await page.getByRole('list', { name: 'Trusted folders' }).getByRole('button', { name: folder }).click();
  await page.getByRole('button', { name: `Works in ${folder}` }).waitFor();
  expect(await window.message.inputValue()).toBe('What grows here?');
});

test('a session made while the person opens another one leaves that one in view', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const { page } = window;
  await window.host.op('session.create', { title: 'Garden' });
  await page.getByRole('link', { name: /^Earlier work/ }).click();
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  const making = await hold(window, 'session.create');
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(making.count).toBe(1);
  await window.message.fill('For the new one');
  await page.getByRole('link', { name: /^Garden/ }).click();
  await expect.poll(() => window.message.inputValue()).toBe('');
  await window.message.fill('For the garden');
  making.letGo();
  const made = page.getByRole('link', { name: /^New session/ });
  await made.waitFor();
  await page.waitForTimeout(200);
  expect(await window.message.inputValue()).toBe('For the garden');
  await made.click();
  await expect.poll(() => window.message.inputValue()).toBe('For the new one');
});

test('what is typed while a message is on its way is the next message', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Two eggs.' }] });
  await window.page.getByText('What can I do for you?').waitFor();
  const sending = await hold(window, 'message.send');
  await window.message.focus();
  await window.page.keyboard.type('How many eggs?');
  await window.page.keyboard.press('Enter');
  await expect.poll(sending.count).toBe(1);
  await window.page.keyboard.type(' And flour?');
  sending.letGo();
  await window.conversation.getByText('Two eggs.').waitFor();
  expect(await window.message.inputValue()).toBe('And flour?');
  await window.conversation.getByText('How many eggs?', { exact: true }).waitFor();
});

test('a first message that is still being sent does not leave the session opened meanwhile', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Two eggs.' }] });
  const { page } = window;
  await page.getByText('What can I do for you?').waitFor();
  await window.message.fill('How many eggs?');
  const { sessionId } = (await window.host.op('session.create', { title: 'Garden' })) as { sessionId: string };
  const garden = page.getByRole('link', { name: /^Garden/ });
  await garden.waitFor();
  const sending = await hold(window, 'message.send');
  await window.message.press('Enter');
  await expect.poll(sending.count).toBe(1);
  await garden.click();
  await window.message.fill('For the garden');
  const answered = page.waitForResponse('**/api/ops/message.send');
  sending.letGo();
  await answered;
  await page.getByRole('link', { name: /Two eggs\./ }).waitFor();
  expect(page.url()).toContain(sessionId);
  expect(await window.message.inputValue()).toBe('For the garden');
});
