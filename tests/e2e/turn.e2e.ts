// A turn as a person follows it: its plan, its cards by keyboard, its cost, and what can be done after a failure.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const read = (path: string) => ({ tool: 'read_file', args: { path } });
const edit = { tool: 'edit_file', args: { path: 'notes.md', old: 'Buy milk.', new: 'Buy bread.' } };

/** The calls of a plan as a person reads them, including the outcome for screen readers. */
function planLines(window: WindowUnderTest): Promise<string[]> {
  return window.page.getByRole('list', { name: 'Plan' }).getByRole('button', { expanded: false }).allTextContents();
}

test('calls planned together form a plan, and each is ticked off as it ends', async () => {
  const window = await openSession(browser, {
    replies: [{ text: 'First a look.', calls: [read('notes.md'), read('missing.md'), edit] }, { text: 'Bread it is.' }],
  });
  await window.send('Change milk to bread');
  await window.approval.waitFor();
  const plan = window.page.getByRole('list', { name: 'Plan' });
  expect(await plan.getByRole('listitem').count()).toBe(3);
  await window.page.getByText('3 calls, 2 done').waitFor();
  expect(
    (await planLines(window)).map((line) =>
      line
        .replace(/\s+/g, ' ')
        .replace(/[\d.]+ m?s/, '')
        .trim(),
    ),
  ).toEqual(['Read notes.md done', 'Tried to read missing.md failed', 'Wants to edit notes.md waiting for you']);
  await window.page.getByText('2 of 3 calls done').waitFor();
  await window.conversation.getByText('Waiting for you', { exact: true }).waitFor();
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Bread it is.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: /^Edited notes\.md/ }).waitFor();
  await window.page.getByText('3 calls', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('a single call needs no plan, and a plan is shown again after a reload', async () => {
  const window = await openSession(browser, {
    replies: [{ calls: [read('notes.md')] }, { text: 'One.' }, { calls: [read('notes.md'), read('notes.md')] }, { text: 'Two.' }],
  });
  await window.send('First');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  expect(await window.page.getByRole('list', { name: 'Plan' }).count()).toBe(0);
  await window.send('Second');
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
  await window.page.reload();
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
  expect(await window.page.getByRole('list', { name: 'Plan' }).getByRole('listitem').count()).toBe(2);
});

test('a finished long turn shows only its failed calls, and all of them when opened', async () => {
  const names = ['a.md', 'b.md', 'c.md', 'notes.md'];
  const single = names.map((name) => ({ calls: [read(name)] }));
  const both = { calls: [read('list.md'), read('missing.md')] };
  const files = Object.fromEntries([...names, 'list.md'].map((name) => [name, name]));
  const window = await openWindow(browser, { files, replies: [...single, both, { text: 'Read.' }] });
  await window.send('Read everything');
  await window.conversation.getByText('Read.', { exact: true }).waitFor();
  const work = window.page.getByRole('list', { name: 'Work' }).getByRole('listitem');
  await expect.poll(() => work.allInnerTexts()).toEqual([expect.stringContaining('Tried to read missing.md')]);
  await looksGood(window.page, 'folded-turn');
  await window.page.getByRole('button', { name: /^5 steps/ }).click();
  await expect.poll(() => work.getByRole('button', { expanded: false }).count()).toBe(6);
});

test('a turn shows phase, time, calls and context share, and its cost at the end', async () => {
  const window = await openSession(browser, {
    replies: [{ calls: [read('notes.md')] }, { text: 'word '.repeat(2_000), pieceChars: 10, delayMs: 40 }],
  });
  await window.send('Look and tell');
  await window.conversation.getByText('word word').waitFor();
  const strip = window.conversation.locator('.strip');
  await strip.getByText('Answering', { exact: true }).first().waitFor();
  await expect.poll(() => strip.innerText()).toMatch(/\d\ss/);
  expect(await strip.innerText()).toMatch(/1 of 1 call done/);
  await window.details.click();
  expect(await strip.getByRole('button', { name: /^Context \d+%/ }).getAttribute('title')).toMatch(/^The model saw .+ of at most .+/);
  await window.page.getByRole('button', { name: 'Stop turn' }).click();
  await window.conversation.getByText('Stopped. What was done so far is kept.').waitFor();
  await window.conversation.getByText('Kept: 1 finished call.').waitFor();
  // The words stay where they were read, and can be copied.
  await window.conversation.locator('.answer').getByText('word word').waitFor();
  expect(await strip.getByText('word word').count()).toBe(0);
  await window.conversation.getByRole('button', { name: 'Copy the answer' }).waitFor();
  expect(await strip.innerText()).toMatch(/\$0\.\d+[\s\S]+[\d.]+k?\stokens/);
});

test('a card is used by keyboard: it has the answer, difference, check and undo', async () => {
  const window = await openWindow(browser, { replies: [{ calls: [edit] }, { text: 'Bread it is.' }] });
  await window.send('Change milk to bread');
  await window.approval.getByRole('button', { name: 'Allow more…' }).click();
  await window.approval.getByRole('button', { name: 'Approve for 15 minutes' }).click();
  await window.conversation.getByText('Bread it is.', { exact: true }).waitFor();
  const line = window.page.getByRole('button', { name: /^Edited notes\.md/ });
  await line.focus();
  await window.page.keyboard.press('Enter');
  const card = window.page.getByRole('group', { name: 'Edited notes.md' });
  await card.getByText('Approved by you, in the window, for 15 minutes.').waitFor();
  await card.getByText('As expected.').waitFor();
  await card.getByRole('group', { name: 'Differences in notes.md' }).waitFor();
  expect(await card.getByText(/^Started .+ · Took /).count()).toBe(1);
  expect(await line.getAttribute('aria-controls')).toBe(await card.getAttribute('id'));
  await card.getByRole('button', { name: 'Undo', exact: true }).focus();
  await window.page.keyboard.press('Enter');
  await card.getByText('1 file put back.').waitFor();
  expect(await window.host.readFile('notes.md')).toBe('# Notes\n\nBuy milk.\n');
  await window.page.keyboard.press('Escape');
  await card.waitFor({ state: 'detached' });
  expect(await line.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  expect(window.incidents).toEqual([]);
});

test('output is shown while a command runs, and afterwards once, in the result', async () => {
  const command = 'echo first; sleep 1; echo second';
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'exec', args: { command } }] }, { text: 'Ran.' }] });
  await window.send('Run it');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  const live = window.page.getByLabel('Live output');
  await live.waitFor();
  expect(await live.innerText()).toContain('first');
  await window.conversation.getByText('Ran.', { exact: true }).waitFor();
  expect(await live.count()).toBe(0);
  await window.page.getByRole('button', { name: /^Ran echo first/ }).click();
  expect(await window.page.getByRole('group', { name: 'Result' }).innerText()).toMatch(/first\s+second/);
  expect(await live.count()).toBe(0);
});

test('a failed turn says what was kept and is retried in place', async () => {
  const window = await openSession(browser, {
    replies: [{ calls: [read('notes.md')] }, { refuse: 'overloaded' }, { text: 'Back again.' }],
  });
  await window.send('What is in my notes?');
  const alert = window.page.getByRole('alert');
  await alert.getByText('Everything up to here is recorded in this session. Kept: 1 finished call.').waitFor();
  expect(await alert.getByRole('link', { name: 'Open settings' }).getAttribute('href')).toBe('#/settings/models');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await window.conversation.getByText('Back again.', { exact: true }).waitFor();
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { sessionId: string }[] };
  const { events } = (await window.host.op('session.get', { sessionId: sessions[0]?.sessionId })) as { events: { type: string }[] };
  // The same message is used again; there is no second one.
  expect(events.filter(({ type }) => type === 'turn.superseded')).toHaveLength(1);
  expect(window.incidents).toEqual([]);
});

test('a missing key leads to the secrets, and a failure that is past asks for nothing', async () => {
  const config = {
    providers: { lab: { kind: 'openai-compatible' as const, baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'env:NO_SUCH_KEY' } },
  };
  const window = await openWindow(browser, { config });
  await window.send('Hello');
  const alert = window.page.getByRole('alert');
  await alert.getByText('There is no secret NO_SUCH_KEY in the environment.').waitFor();
  expect(await alert.getByRole('link', { name: 'Open settings' }).getAttribute('href')).toBe('#/settings/secrets');
  await window.send('Hello again');
  await expect.poll(() => window.conversation.getByText(/^There is no secret NO_SUCH_KEY/).count()).toBe(2);
  await expect.poll(() => window.conversation.getByRole('link', { name: 'Open settings' }).count()).toBe(1);
  expect(await window.conversation.getByText('Everything up to here is recorded in this session.').count()).toBe(1);
});

test('a failure is an alert when it happens, and text when its session is opened again', async () => {
  const window = await openSession(browser, { replies: [{ refuse: 'overloaded' }] });
  const { page } = window;
  await window.send('Hello');
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
  const failure = window.conversation.getByText('Everything up to here is recorded in this session.');
  const open = async (): Promise<void> => {
    await page
      .getByRole('list', { name: 'Sessions' })
      .getByRole('link', { name: /^Hello/ })
      .click();
    await failure.waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  };
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await failure.waitFor({ state: 'detached' });
  await open();
  await page.reload();
  await failure.waitFor();
  await open();
});

test('a failed turn is retried with another model', async () => {
  const window = await openSession(browser, { replies: [{ refuse: 'overloaded' }] });
  await window.send('What is 2340 * 17.5 / 100?');
  const alert = window.page.getByRole('alert');
  await alert.getByRole('button', { name: 'Another model' }).click();
  await alert.getByRole('list', { name: 'Another model' }).getByRole('button', { name: 'demo/offline' }).click();
  await window.conversation.getByText(/= 409\.5/).waitFor();
  expect(await window.page.getByRole('button', { name: /^Calculated 2340/ }).count()).toBe(1);
});
