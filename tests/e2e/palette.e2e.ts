// Commands and keys: the palette finds and runs everything, keys do what the key sheet says, the focus is never lost.

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const hasFocus = (locator: Locator): Promise<boolean> => locator.evaluate((element) => element === element.ownerDocument.activeElement);
/** Polls, because the machine may be busy. */
const expectSoon = <T>(look: () => Promise<T>) => expect.poll(look);
const palette = (page: Page): Locator => page.getByRole('combobox', { name: 'Commands' });
const lines = (page: Page): Locator => page.getByRole('dialog').getByRole('listbox', { name: 'Commands' }).getByRole('option');

async function open(opened = openSession): Promise<WindowUnderTest> {
  const window = await opened(browser, { historyTurns: 2 });
  await window.conversation.getByText('Question 2', { exact: true }).waitFor();
  return window;
}

async function openEmptySession({ page, host }: WindowUnderTest): Promise<void> {
  const { sessionId } = (await host.op('session.create', {})) as { sessionId: string };
  await page.evaluate(`location.hash = '#/chat/${sessionId}'`);
  await page.getByText('What can I do for you?').waitFor();
}

async function command(page: Page, letters: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await palette(page).fill(letters);
  await page.keyboard.press('Enter');
}

test('a few letters find a command, Enter runs it, and the focus follows', async () => {
  const { page, message, incidents } = await open();
  await message.focus();
  await page.keyboard.press('Control+k');
  await expectSoon(() => hasFocus(palette(page))).toBe(true);
  await page.keyboard.type('gse');
  await expectSoon(() => lines(page).first().locator('b').allTextContents()).toEqual(['G', 'Se']);
  expect(await lines(page).first().getAttribute('aria-selected')).toBe('true');
  expect(await palette(page).getAttribute('aria-activedescendant')).toBe(await lines(page).first().getAttribute('id'));
  await page.keyboard.press('Enter');
  const heading = page.getByRole('heading', { level: 1, name: 'Settings' });
  await heading.waitFor();
  await expectSoon(() => hasFocus(heading)).toBe(true);
  expect(incidents).toEqual([]);
});

test('what is typed while the palette or the find bar loads is in its field, and not in the message', async () => {
  const window = await open(openWindow);
  const { page, message } = window;
  const parts = [
    { part: 'command-palette', keys: 'Control+k', field: palette(page) },
    { part: 'find-bar', keys: 'Control+f', field: page.getByRole('textbox', { name: 'Find', exact: true }) },
  ];
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  for (const { part, keys, field } of parts) {
    const loads = Promise.withResolvers<void>();
    await page.goto('about:blank');
    await page.route(`**/assets/${part}-*.js`, async (route) => {
      await loads.promise;
      await route.continue();
    });
    await window.openAddress();
    await message.focus();
    await page.keyboard.press(keys);
    await page.keyboard.type('qu');
    // A session that opens meanwhile does not take the focus.
    if (part === 'command-palette') await openEmptySession(window);
    await page.keyboard.type('est');
    loads.resolve();
    await field.waitFor();
    await expectSoon(() => hasFocus(field)).toBe(true);
    await page.keyboard.type('ion');
    expect(await field.inputValue()).toBe('question');
    await page.keyboard.press('Escape');
    await expectSoon(() => hasFocus(message)).toBe(true);
    expect(await message.inputValue()).toBe('');
  }
});

test('the palette opens by its keys before the table of keys is loaded, and takes what is typed', async () => {
  const window = await open(openWindow);
  const { page, message } = window;
  const loads = Promise.withResolvers<void>();
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.goto('about:blank');
  await page.route('**/assets/commands-*.js', async (route) => {
    await loads.promise;
    await route.continue();
  });
  await window.openAddress();
  await message.focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('question');
  loads.resolve();
  await palette(page).waitFor();
  expect([await palette(page).inputValue(), await message.inputValue()]).toEqual(['question', '']);
});

test('Enter pressed while the palette loads runs the command; the next page is painted in the chosen theme', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const loads = Promise.withResolvers<void>();
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.route('**/assets/command-palette-*.js', async (route) => {
    await loads.promise;
    await route.continue();
  });
  const theme = () => page.evaluate('document.documentElement.dataset.theme');
  await window.message.focus();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('theme: dark');
  await page.keyboard.press('Enter');
  loads.resolve();
  await expect.poll(theme).toBe('dark');
  await expectSoon(() => hasFocus(window.message)).toBe(true);
  // The window's own script never arrives, so that only the first one can have chosen.
  await page.route('**/assets/window-*.js', () => undefined);
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(theme).toBe('dark');
});

test('Escape, a click outside and the same keys close the palette; the focus returns', async () => {
  const { page, message } = await open(openWindow);
  const closings = [() => page.keyboard.press('Escape'), () => page.mouse.click(30, 700), () => page.keyboard.press('Control+k')];
  for (const close of closings) {
    await message.focus();
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    await close();
    await palette(page).waitFor({ state: 'detached' });
    await expectSoon(() => hasFocus(message)).toBe(true);
  }
  await page.getByRole('button', { name: 'Commands' }).click();
  await palette(page).waitFor();
});

test('recent commands come first the next time, and the arrow keys wrap around', async () => {
  const { page } = await open(openWindow);
  await command(page, 'go to health');
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
  await command(page, 'go to chat');
  await page.getByRole('heading', { level: 1, name: 'Earlier work' }).waitFor();
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  expect((await lines(page).allInnerTexts()).slice(0, 2).map((line) => line.split('\n')[0])).toEqual(['Go to Chat', 'Go to Health']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
  await page.keyboard.press('Control+k');
  await lines(page).filter({ hasText: '/help' }).waitFor();
  await page.keyboard.press('ArrowUp');
  expect(await lines(page).last().getAttribute('aria-selected')).toBe('true');
});

test('the panic stop needs a second press, and its release is found by name', async () => {
  const { page, host } = await open(openWindow);
  await page.keyboard.press('Control+k');
  await palette(page).fill('panic stop');
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: 'Press again to stop everything' }).waitFor();
  expect(await host.op('panic.status', {})).toMatchObject({ engaged: false });
  // Moving away resets the first press.
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  expect(await host.op('panic.status', {})).toMatchObject({ engaged: false });
  await page.keyboard.press('Enter');
  await page.getByText('Everything is stopped.').first().waitFor();
  await command(page, 'release panic');
  // It leads to the confirmation and releases nothing itself.
  await page.getByRole('button', { name: 'Yes, release panic stop' }).waitFor();
  expect(await host.op('panic.status', {})).toMatchObject({ engaged: true });
  await page.getByRole('button', { name: 'Yes, release panic stop' }).click();
  await page.getByText('Everything is stopped.').waitFor({ state: 'detached' });
  expect(await host.op('panic.status', {})).toMatchObject({ engaged: false });
});

test('sessions are found by title and content, and acted on', async () => {
  const { page, host, conversation } = await open();
  const other = (await host.op('session.create', { title: 'Garden plans' })) as { sessionId: string };
  await page.getByRole('list', { name: 'Sessions' }).getByText('Garden plans').waitFor();
  await command(page, 'garden');
  await page.getByRole('heading', { level: 1, name: 'Garden plans' }).waitFor();
  await page.keyboard.press('Control+k');
  await palette(page).fill('second point');
  await lines(page).filter({ hasText: 'Earlier work' }).first().click();
  await conversation.getByText('Question 2', { exact: true }).waitFor();
  await command(page, 'garden');
  await command(page, 'pin session');
  await expectSoon(async () => sessionOf(await host.op('session.list', {}), other.sessionId)).toMatchObject({ pinned: true });
  await command(page, 'rename session');
  await page.getByRole('textbox', { name: 'Session title' }).fill('Garden, at last');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Garden, at last' }).waitFor();
  const download = page.waitForEvent('download');
  await command(page, 'export markdown');
  expect((await download).suggestedFilename()).toBe('Garden at last.md');
  await page.getByText('Saved as Garden at last.md.').first().waitFor();
  await command(page, 'archive session');
  await expectSoon(async () => sessionOf(await host.op('session.list', {}), other.sessionId)).toBeUndefined();
});

function sessionOf(listed: unknown, sessionId: string): unknown {
  return (listed as { sessions: { sessionId: string }[] }).sessions.find((session) => session.sessionId === sessionId);
}

test('a slash command with parameters starts a line, others run at once', async () => {
  const { page, message } = await open();
  await page.keyboard.press('Control+k');
  await palette(page).fill('/calc');
  await lines(page).filter({ hasText: '/calc' }).waitFor();
  await page.keyboard.press('Enter');
  await expectSoon(() => message.inputValue()).toBe('/calc ');
  await expectSoon(() => hasFocus(message)).toBe(true);
  await message.fill('');
  // A command without parameters runs at once, and so does a complete line.
  await page.keyboard.press('Control+k');
  await palette(page).fill('/status');
  await lines(page).filter({ hasText: '/status' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Result of /status' }).waitFor();
  await command(page, '/help calc');
  await page.getByRole('region', { name: 'Result of /help calc' }).getByText('Calculate.').first().waitFor();
  expect(await message.inputValue()).toBe('');
});

test('theme, density and contrast are changed by name', async () => {
  const { page } = await open(openWindow);
  const looks = (): Promise<unknown> => page.evaluate('({ ...document.documentElement.dataset })');
  await command(page, 'theme dark');
  await command(page, 'compact');
  await command(page, 'more contrast');
  await expectSoon(looks).toEqual({ theme: 'dark', density: 'compact', contrast: 'more' });
});

test('keys do what the sheet says; single-letter keys only if enabled and outside text', async () => {
  const { page, host, message } = await open(openWindow);
  await host.op('session.create', { title: 'Newest' });
  await page.getByRole('list', { name: 'Sessions' }).getByText('Newest').waitFor();
  const title = (name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();
  await page.keyboard.press('Alt+ArrowUp');
  await title('Newest');
  await page.keyboard.press('Alt+ArrowDown');
  await title('Earlier work');
  await message.fill('');
  await page.keyboard.type('jk?');
  expect([await message.inputValue(), await page.getByRole('dialog').count()]).toEqual(['jk?', 0]);
  await page.getByRole('heading', { level: 1 }).focus();
  await page.keyboard.press('k');
  await title('Newest');
  await page.keyboard.press('Alt+Shift+0');
  await title('Settings');
  await page.keyboard.press('?');
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.getByText('Next session').waitFor();
  expect(await sheet.getByRole('definition').filter({ hasText: 'J' }).count()).toBeGreaterThan(0);
  await page.keyboard.press('Escape');
  await sheet.waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: /^Single-letter shortcuts/ }).uncheck();
  await page.getByRole('heading', { level: 1 }).focus();
  await page.keyboard.press('?');
  await page.keyboard.press('Control+/');
  await sheet.getByText('Next session').waitFor();
  expect(await sheet.getByRole('definition').filter({ hasText: /^J$/ }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+Shift+N');
  await title('New session');
  await expectSoon(() => hasFocus(message)).toBe(true);
  await page.keyboard.press('Alt+Shift+F');
  await expectSoon(() => hasFocus(page.getByRole('searchbox', { name: 'Search sessions' }))).toBe(true);
});

test('the first Tab stop skips to the conversation', async () => {
  const { page, conversation } = await open();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Chat' }).focus();
  await page.keyboard.press('Shift+Tab');
  const skip = page.getByRole('button', { name: 'Skip to the conversation' });
  expect(await hasFocus(skip)).toBe(true);
  await page.keyboard.press('Enter');
  expect(await hasFocus(conversation)).toBe(true);
});

test('the first letters of what a person wants, or another word for it, put it first', async () => {
  const { page, incidents } = await open();
  const wanted: readonly (readonly [string, RegExp])[] = [
    ['new', /^New session/],
    ['sch', /^Go to Schedules/],
    ['run', /^Go to Running/],
    ['skill', /^Go to Skills/],
    ['cost', /^Go to usage/],
    ['task', /^Go to Running/],
    ['file', /^Attach files/],
    ['folder', /^Work in a folder/],
    ['copy', /^Export session as Markdown|^Fork session/],
    ['context', /^(?:Show what the model saw|Preview the next request)/],
    ['permission', /^Go to Approvals|^Go to the policy|^Go to Settings/],
  ];
  await page.keyboard.press('Control+k');
  for (const [letters, name] of wanted) {
    await palette(page).fill(letters);
    await expectSoon(() => lines(page).first().innerText()).toMatch(name);
  }
  await page.keyboard.press('Escape');
  expect(incidents).toEqual([]);
});

test('files are attached and a folder is chosen from the palette', async () => {
  const window = await open();
  const { page } = window;
  const choosing = page.waitForEvent('filechooser');
  await command(page, 'attach');
  await choosing;
  await command(page, 'work in a folder');
  await page.getByRole('dialog', { name: /folder/i }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('What can I do for you?').waitFor();
  expect(window.incidents).toEqual([]);
});
