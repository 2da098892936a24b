// With the keyboard alone: what is closed, renamed or removed leaves the focus at a place that makes sense, never nowhere.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return 'nothing';
    return (element.getAttribute('aria-label') ?? (element.labels?.[0]?.textContent || element.textContent)).trim().replace(/\\s+/g, ' ');
  })()`);

test('after a title is changed in the header, the focus is where the change began', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  const field = page.getByRole('textbox', { name: 'Session title' });
  for (const key of ['Escape', 'Enter']) {
    await page.getByRole('button', { name: 'Rename session' }).press('Enter');
    await field.press(key);
    await expect.poll(() => focused(page)).toBe('Rename session');
  }
  await window.message.press('F2');
  await field.press('Escape');
  await expect.poll(() => focused(page)).toBe('Message');
});

test('a session that leaves the list and comes back keeps the focus in the list', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const { page } = window;
  await window.host.op('session.create', { title: 'Garden' });
  await window.host.op('session.create', { title: 'Kitchen' });
  const row = (name: string) => page.getByRole('list', { name: 'Sessions' }).getByRole('link', { name: new RegExp(`^${name}`) });
  await row('Kitchen').waitFor();
  await row('Kitchen').press('Delete');
  await expect.poll(() => focused(page)).toMatch(/^Garden/);
  await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
  await expect.poll(() => focused(page)).toMatch(/^Kitchen/);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Archive' }).press('Enter');
  await expect.poll(() => focused(page)).toMatch(/^Garden/);
  await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
  await expect.poll(() => focused(page)).toMatch(/^Kitchen/);
  await row('Kitchen').press('Delete');
  await page.getByRole('button', { name: 'Delete now' }).press('Enter');
  await expect.poll(() => focused(page)).not.toBe('nothing');
});

test('Tab leaves a menu and closes it', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await page.getByRole('button', { name: 'Actions for your message' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('Copy');
  await page.keyboard.press('Tab');
  await page.getByRole('menu').waitFor({ state: 'hidden' });
  expect(await focused(page)).not.toBe('Edit');
  await page.getByRole('button', { name: 'Actions for your message' }).press('Enter');
  await page.keyboard.press('Shift+Tab');
  await page.getByRole('menu').waitFor({ state: 'hidden' });
  expect(await focused(page)).not.toBe('nothing');
});

test('a letter goes to the next item of a menu that begins with it, Home and End to the ends', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await window.host.op('session.create', { title: 'Garden' });
  const row = page.getByRole('list', { name: 'Sessions' }).getByRole('link', { name: /^Garden/ });
  await row.press('Tab');
  await page.keyboard.press('Enter');
  const names = (await page.getByRole('menuitem').allInnerTexts()).map((name) => name.trim());
  expect(names).toContain('Delete');
  await expect.poll(() => focused(page)).toBe(names[0]);
  const found: string[] = [];
  for (const key of ['e', 'E', 'd', 'x', 'End', 'Home']) {
    await page.keyboard.press(key);
    found.push(await focused(page));
  }
  const exports = names.filter((name) => name.startsWith('E'));
  expect(exports).toHaveLength(2);
  expect(found).toEqual([...exports, 'Delete', 'Delete', names.at(-1), names[0]]);
});

test('Escape closes the note of an approval, keeps its words, and returns to its button', async () => {
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }] }] });
  const { approval } = window;
  await window.send('Write it');
  await approval.getByRole('button', { name: 'Other answers' }).press('Enter');
  await approval.getByRole('menuitem', { name: 'Deny with a note…' }).press('Enter');
  const note = approval.getByRole('textbox');
  await note.fill('Not there');
  await note.press('Escape');
  await expect.poll(() => focused(window.page)).toBe('Other answers');
  expect(await note.count()).toBe(0);
  await window.page.keyboard.press('Enter');
  await approval.getByRole('menuitem', { name: 'Deny with a note…' }).press('Enter');
  expect(await note.inputValue()).toBe('Not there');
});

test('Escape closes what a button or a summary of an approval opened, and returns to it', async () => {
  const window = await openSession(browser, {
    replies: [
      { calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }] },
      { calls: [{ tool: 'exec', args: { command: 'rm -rf build' } }] },
    ],
  });
  const { page, approval } = window;
  await window.send('Write it');
  const more = approval.getByRole('button', { name: 'Allow more…' });
  await more.press('Enter');
  await approval.getByRole('radio').first().press('Escape');
  await expect.poll(() => focused(page)).toBe('Allow more…');
  expect(await more.getAttribute('aria-expanded')).toBe('false');
  await more.press('Enter');
  await more.press('Escape');
  expect(await more.getAttribute('aria-expanded')).toBe('false');
  const [outer, inner] = [approval.locator('details').first(), approval.locator('details details')];
  await outer.locator('> summary').press('Enter');
  await inner.locator('> summary').press('Enter');
  await inner.locator('> summary').press('Escape');
  expect([await inner.getAttribute('open'), await outer.getAttribute('open')]).toEqual([null, '']);
  await inner.locator('> summary').press('Escape');
  await expect.poll(() => focused(page)).toBe('Details');
  expect(await outer.getAttribute('open')).toBe(null);
  const deny = approval.getByRole('button', { name: 'Deny' });
  // A new card ignores keys for a moment, and the driver does not wait for that.
  await expect.poll(() => deny.isEnabled()).toBe(true);
  await deny.press('Space');
  await approval.getByText('rm -rf build', { exact: true }).first().waitFor();
  const once = approval.getByRole('button', { name: 'Approve once' });
  await expect.poll(() => once.isEnabled()).toBe(true);
  for (const leave of [() => page.keyboard.press('Escape'), () => approval.getByRole('button', { name: 'Back' }).press('Enter')]) {
    await once.press('Enter');
    await approval.getByRole('button', { name: 'Back' }).waitFor();
    await leave();
    await expect.poll(() => focused(page)).toBe('Approve once');
    expect(await once.getAttribute('aria-expanded')).toBe('false');
  }
});

test('the form of a provider takes the focus and gives it back, and so does a removed provider', async () => {
  const window = await openSession(browser);
  const { page } = window;
  await page.goto(`${window.host.origin}/#/settings/models`);
  const add = page.getByRole('button', { name: 'Add a provider' });
  await add.press('Enter');
  const form = page.getByRole('form', { name: 'Add a provider' });
  await expect.poll(() => form.evaluate((element) => element.contains(element.ownerDocument.activeElement))).toBe(true);
  await form.getByRole('button', { name: 'Cancel' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('Add a provider');
  await page.getByRole('button', { name: 'Remove lab' }).press('Enter');
  await expect.poll(() => focused(page)).toMatch(/^Undo.*lab/);
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page)).toBe('Remove lab');
});

test('a stop from elsewhere is an alert, and what is spent is not news', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const figures = page.getByRole('status', { name: 'Model and budget' });
  await figures.getByText('of $10.00 today').waitFor();
  expect(await figures.getAttribute('aria-live')).toBe('off');
  await window.host.op('panic.engage', { reason: 'From another window' });
  await page.getByRole('alert').filter({ hasText: 'Everything is stopped.' }).waitFor();
});

test('a retry and an edited message leave the focus in the conversation', async () => {
  const window = await openSession(browser, { replies: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }] });
  const { page, conversation } = window;
  const isInConversation = (): Promise<boolean> => conversation.evaluate((log) => log.contains(log.ownerDocument.activeElement));
  await window.send('Count');
  await conversation.getByText('One.', { exact: true }).waitFor();
  await conversation.getByRole('button', { name: 'Retry', exact: true }).press('Enter');
  await conversation.getByText('Two.', { exact: true }).waitFor();
  await expect.poll(isInConversation).toBe(true);
  await conversation.getByRole('button', { name: 'Actions for your message' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Edit' }).press('Enter');
  await page.keyboard.type(' on');
  await page.keyboard.press('Enter');
  await conversation.getByText('Three.', { exact: true }).waitFor();
  await expect.poll(isInConversation).toBe(true);
});

test('a step of the tour keeps the focus in the tour, and its end gives it to the message', async () => {
  const window = await openWindow(browser, { usesDemo: true });
  const { page } = window;
  await page.getByRole('button', { name: 'Take the one-minute tour' }).press('Enter');
  await page.getByRole('button', { name: 'Send it' }).press('Enter');
  await window.approval.waitFor();
  await expect.poll(() => focused(page)).toBe('One-minute tour');
  await page.getByRole('button', { name: 'Leave the tour' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('Message');
});

test('a schedule that is paused keeps the focus, and one that is removed leaves it nearby', async () => {
  const window = await openSession(browser);
  const { page, host } = window;
  const spec = { kind: 'cron', expr: '0 8 * * *', zone: 'UTC' };
  await host.op('schedule.create', { name: 'Morning', prompt: 'Read', spec });
  await window.go('Schedules');
  await page.getByRole('button', { name: 'Pause Morning' }).press('Enter');
  await expect.poll(() => focused(page)).toBe('Resume Morning');
  await page.getByRole('button', { name: 'Remove Morning' }).press('Enter');
  await expect.poll(() => focused(page)).not.toBe('nothing');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toMatch(/^Undo/);
});

test('at the end of the queue the focus stays on the button that led there', async () => {
  const calls = ['a.md', 'b.md'].map((path) => ({ tool: 'write_file', args: { path, content: 'x' } }));
  const window = await openSession(browser, { replies: [{ calls }] });
  const { page } = window;
  await window.send('Write both');
  await window.approval.nth(1).waitFor();
  await window.go('Approvals');
  await page.getByRole('button', { name: 'Next', exact: true }).press('Enter');
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 2', { exact: true }).waitFor();
  expect(await focused(page)).toBe('Previous');
});

test('after the last grant is revoked the focus is in the page, under its title', async () => {
  const calls = [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }];
  const window = await openSession(browser, { replies: [{ calls }, { text: 'Written.' }] });
  const { page, approval } = window;
  await window.send('Write it');
  await expect.poll(() => approval.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true);
  await approval.getByRole('button', { name: 'Allow more…' }).press('Enter');
  await approval.getByRole('button', { name: 'Approve for this session' }).press('Enter');
  await window.conversation.getByText('Written.', { exact: true }).waitFor();
  await window.go('Approvals');
  await page.getByRole('button', { name: /^Revoke: / }).press('Enter');
  await page.getByText(/^No grants yet/).waitFor();
  const main = page.getByRole('main', { name: 'Approvals' });
  await expect.poll(() => main.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
});
