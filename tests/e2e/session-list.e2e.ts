// The session list: its order, unread sessions, and pinning, archiving, finding and deleting by mouse and by keyboard.

import { readFile } from 'node:fs/promises';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const rowsOf = ({ page }: WindowUnderTest): Locator => page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');

async function choose({ page }: WindowUnderTest, session: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${session}`, exact: true }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
}

async function make({ host }: WindowUnderTest, title: string): Promise<string> {
  const made = (await host.op('session.create', { title })) as { readonly sessionId: string };
  return made.sessionId;
}

/** The title of the focused row, or the tag name of another focused element. */
function focused({ page }: WindowUnderTest): Promise<string> {
  return page.evaluate<string>("document.activeElement.querySelector('.title')?.textContent ?? document.activeElement.tagName");
}

test('the list is made wider by keys, stays so after a reload, and a double click takes the usual width', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const { page } = window;
  const edge = page.getByRole('separator', { name: 'Width of the session list' });
  const width = async (): Promise<number> => Math.round((await page.locator('.list').boundingBox())?.width ?? 0);
  await rowsOf(window).first().waitFor();
  const usual = await width();
  await edge.press('ArrowRight');
  await expect.poll(width).toBe(usual + 40);
  await page.reload();
  await rowsOf(window).first().waitFor();
  await expect.poll(width).toBe(usual + 40);
  await edge.press('Home');
  await expect.poll(width).toBe(200);
  await edge.dblclick();
  await expect.poll(width).toBe(usual);
  expect(window.incidents).toEqual([]);
});

test('a pinned session comes first in its own group, also after a restart', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  await make(window, 'Garden');
  const rows = rowsOf(window);
  await expect.poll(() => rows.count()).toBe(2);
  await expect.poll(() => rows.first().innerText()).toContain('Garden');
  await choose(window, 'Earlier work', 'Pin');
  await rows.first().getByText('Earlier work').waitFor();
  await expect.poll(() => rows.first().getByRole('heading').innerText()).toBe('Pinned');
  await expect.poll(() => rows.nth(1).getByRole('heading').innerText()).toBe('Today');
  await window.host.stop();
  await window.host.start();
  await window.openAddress();
  await rows.first().getByRole('heading', { name: 'Pinned' }).waitFor();
  await choose(window, 'Earlier work', 'Unpin');
  await window.page.getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' });
  expect(window.incidents).toEqual([]);
});

test('a long title that is read from the right loses its end and not its beginning', async () => {
  const window = await openWindow(browser);
  const words = 'תכנון הטיול לצפון עם כל המשפחה בחופשה הקרובה'.split(' ');
  await make(window, words.join(' '));
  const title = window.page.getByRole('list', { name: 'Sessions' }).getByText(words[0] ?? '');
  await title.waitFor();
  const isShown = await title.evaluate((box) => {
    const range = box.ownerDocument.createRange();
    const text = box.firstChild;
    if (text === null) return null;
    return [0, (text.textContent?.length ?? 0) - 1].map((at) => {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const [one, all] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
      return one.left >= all.left && one.right <= all.right + 1;
    });
  });
  expect(isShown).toEqual([true, false]);
});

test('an unread session says so in words, and the host stores when it was seen', async () => {
  const window = await openSession(browser, { historyTurns: 1, replies: [{ text: 'Said elsewhere.' }] });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  const sessionId = await make(window, 'Garden');
  await window.host.op('message.send', { sessionId, text: 'Grow' });
  const row = window.page.getByRole('link', { name: /^unread: Garden.*Said elsewhere\./ });
  await row.waitFor();
  await row.click();
  await window.page.getByRole('link', { name: /^Garden/ }).waitFor();
  const unread = async (): Promise<unknown> =>
    ((await window.host.op('session.get', { sessionId, limit: 1 })) as { session: { unread: number } }).session.unread;
  await expect.poll(unread).toBe(0);
});

test('a session shows what it waits for, and where it came from', async () => {
  const window = await openSession(browser, {
    historyTurns: 1,
    replies: [{ calls: [{ tool: 'write_file', args: { path: 'hello.md', content: 'x' } }] }],
  });
  const sessionId = await make(window, 'Garden');
  await window.host.op('message.send', { sessionId, text: 'Write it' });
  await window.page.getByRole('link', { name: /^waiting for you: Garden.*Waiting for you: .*hello\.md/ }).waitFor();
});

test('arrows, Home and End move, F2 renames, Delete deletes, Control+Z restores', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  for (const title of ['One', 'Two', 'Three']) await make(window, title);
  const rows = rowsOf(window);
  await expect.poll(() => rows.count()).toBe(4);
  await window.page.getByRole('searchbox', { name: 'Search sessions' }).focus();
  const { keyboard } = window.page;
  const passed: string[] = [];
  for (const key of ['ArrowDown', 'ArrowDown', 'End', 'ArrowUp', 'Home', 'ArrowUp']) {
    await keyboard.press(key);
    passed.push(await focused(window));
  }
  expect(passed).toEqual(['Three', 'Two', 'Earlier work', 'One', 'Three', 'Three']);

  await keyboard.press('ArrowDown');
  await keyboard.press('F2');
  await window.page.getByRole('textbox', { name: 'Session title' }).fill('Tomatoes');
  await keyboard.press('Enter');
  await rows.getByText('Tomatoes').waitFor();
  await expect.poll(() => focused(window)).toBe('Tomatoes');

  await keyboard.press('Delete');
  await expect.poll(() => rows.count()).toBe(3);
  await expect.poll(() => focused(window)).toBe('One');
  await keyboard.press('Control+z');
  await expect.poll(() => rows.count()).toBe(4);

  await expect.poll(() => focused(window)).toBe('One');
  await keyboard.press('ArrowUp');
  await expect.poll(() => focused(window)).toBe('Tomatoes');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  await window.page.getByRole('menu', { name: 'Actions for Tomatoes' }).waitFor();
  await keyboard.press('ArrowDown');
  await keyboard.press('Enter');
  await rows.first().getByText('Tomatoes').waitFor();
  expect(await rows.first().getByRole('heading').innerText()).toBe('Pinned');
  // The list is a single Tab stop.
  expect(await rows.getByRole('link').evaluateAll((links) => links.filter((link) => link.tabIndex === 0).length)).toBe(1);
});

test('archiving is undone in place', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const rows = rowsOf(window);
  await rows.getByText('Earlier work').waitFor();
  await choose(window, 'Earlier work', 'Archive');
  await expect.poll(() => rows.count()).toBe(0);
  await window.page.getByRole('group', { name: 'Session removed from the list' }).getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => rows.count()).toBe(1);
  await window.page.getByRole('group', { name: 'Session removed from the list' }).waitFor({ state: 'detached' });
});

test('a fork is a separate session that continues from there', async () => {
  const window = await openWindow(browser, { historyTurns: 3, replies: [{ text: 'In the fork.' }] });
  await choose(window, 'Earlier work', 'Fork');
  const rows = rowsOf(window);
  await rows.getByText('Earlier work (fork)').waitFor();
  await expect.poll(() => window.page.url()).not.toContain('ses_earlier');
  await window.conversation.getByText('Question 3', { exact: true }).waitFor();
  await window.send('Go on');
  await window.conversation.getByText('In the fork.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  await window.page.getByRole('link', { name: /^Earlier work (?!\(fork\))/ }).click();
  await window.conversation.getByText('In the fork.').waitFor({ state: 'detached' });
  await window.conversation.getByText('Question 3', { exact: true }).waitFor();
  // Copied turns of a fork do not count as unread. The host learns only now that the answer in the fork was seen.
  await expect.poll(() => window.page.getByRole('link', { name: /^unread/ }).count()).toBe(0);
});

test('a session is exported as a file, for people and for programs', async () => {
  const window = await openWindow(browser, { historyTurns: 2 });
  const save = async (action: string): Promise<{ name: string; text: string }> => {
    const download = window.page.waitForEvent('download');
    await choose(window, 'Earlier work', action);
    const file = await download;
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
  };
  await rowsOf(window).getByText('Earlier work').waitFor();
  const markdown = await save('Export as Markdown');
  expect(markdown.name).toBe('Earlier work.md');
  expect(markdown.text).toMatch(/^# Earlier work\n[\s\S]*Question 2[\s\S]*Answer 2\./);
  const lines = await save('Export as JSON lines');
  expect(lines.name).toBe('Earlier work.jsonl');
  expect(
    lines.text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type),
  ).toContain('assistant.message');
});

test('sessions are drawn and loaded while scrolling, and the search finds those not yet loaded', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  // The session in the address is settled only now: the newest one at that moment.
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await make(window, 'The very first');
  for (let index = 1; index <= 129; index++) await make(window, `Session ${index}`);
  await window.page.reload();
  const rows = rowsOf(window);
  await rows.getByText('Session 129').waitFor();
  // More than the screen shows, and not all that are loaded.
  await window.page.getByRole('button', { name: 'Show more sessions' }).waitFor();
  expect(await rows.count()).toBe(40);
  await window.page.getByRole('searchbox', { name: 'Search sessions' }).fill('very first');
  await window.page.getByRole('list', { name: 'Search results' }).getByText('The very first').waitFor();
  expect(await rows.count()).toBe(0);
  await window.page.getByRole('searchbox', { name: 'Search sessions' }).fill('');
  await expect.poll(() => rows.count()).toBe(40);
  await expect
    .poll(async () => {
      await rows.last().scrollIntoViewIfNeeded();
      return rows.count();
    })
    .toBe(131);
  expect(await window.page.getByRole('button', { name: 'Show more sessions' }).count()).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('a session that is deleted elsewhere is left with a notice, and what was being written stays', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const { page, host, message } = window;
  const sessionId = await make(window, 'Garden');
  await page.evaluate(`location.hash = '#/chat/${sessionId}'`);
  await page.getByRole('heading', { level: 1, name: 'Garden' }).waitFor();
  await message.fill('Half a message');
  await host.op('session.delete', { sessionId });
  await page.getByRole('alert').getByText('“Garden” was deleted elsewhere. What you were writing is kept.').waitFor();
  await page.getByText('What can I do for you?').waitFor();
  expect(await message.inputValue()).toBe('Half a message');
  await message.press('Enter');
  await window.conversation.getByText('Done.', { exact: true }).waitFor();
  // The navigation does not lead back to it.
  await window.go('Settings');
  const other = (await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chat' }).getAttribute('href')) ?? '';
  expect(other).not.toContain(sessionId);
  expect(window.incidents).toEqual([]);
});

test('the search lists a session once and shows its other hits on demand', async () => {
  const window = await openWindow(browser, { historyTurns: 5 });
  await window.conversation.getByText('Question 5', { exact: true }).waitFor();
  await window.page.getByRole('searchbox', { name: 'Search sessions' }).fill('second point');
  const results = window.page.getByRole('list', { name: 'Search results' });
  await results.getByRole('button', { name: 'More matches in Earlier work' }).waitFor();
  expect(await results.getByRole('link').count()).toBe(1);
  await results.getByRole('button', { name: 'More matches in Earlier work' }).click();
  await expect.poll(() => results.getByRole('link').count()).toBe(5);
});

test('a window that becomes narrow keeps the draft and the focus', async () => {
  const window = await openSession(browser, { historyTurns: 1 });
  const { page } = window;
  await rowsOf(window).getByText('Earlier work').waitFor();
  await window.message.focus();
  await page.keyboard.type('half a ');
  for (const width of [360, 1280, 360, 700, 640]) {
    await page.setViewportSize({ width, height: 740 });
    await page.screenshot();
    expect(await page.evaluate<string>('document.activeElement.tagName')).toBe('TEXTAREA');
  }
  await page.keyboard.type('sentence');
  expect(await window.message.inputValue()).toBe('half a sentence');
  await page.getByRole('button', { name: 'Session list' }).click();
  await rowsOf(window).getByText('Earlier work').waitFor();
  expect(await window.message.isVisible()).toBe(false);
});

test('a row shows what the offline demo said, not its label', async () => {
  const window = await openWindow(browser, { usesDemo: true });
  await window.send('Calculate 6 * 7');
  const row = rowsOf(window).filter({ hasText: 'Calculate 6 * 7' });
  await row.getByText('6 * 7 = 42').waitFor();
  expect(await row.innerText()).not.toContain('Offline demo');
});
