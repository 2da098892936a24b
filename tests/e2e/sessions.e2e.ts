// The session list, long conversations, and the other views.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('sessions are created, renamed in place, archived, and deleted with an undo', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  const rows = window.page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows.getByText('Earlier work').waitFor();
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(() => rows.count()).toBe(2);

  const choose = async (session: string, action: string): Promise<void> => {
    await window.page.getByRole('button', { name: `Actions for ${session}` }).click();
    await window.page.getByRole('menuitem', { name: action }).click();
  };
  await choose('New session', 'Rename');
  await window.page.getByRole('textbox', { name: 'Session title' }).fill('Garden');
  await window.page.keyboard.press('Enter');
  await rows.getByText('Garden').waitFor();

  await choose('Garden', 'Delete');
  await expect.poll(() => rows.count()).toBe(1);
  await window.page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => rows.count()).toBe(2);
  await choose('Garden', 'Delete');
  await window.page.getByRole('button', { name: 'Delete now' }).click();
  await window.page.getByText('will be deleted for good').waitFor({ state: 'detached' });
  expect(await rows.count()).toBe(1);

  await choose('Earlier work', 'Archive');
  await expect.poll(() => rows.count()).toBe(0);
  await window.page.getByRole('button', { name: 'Archived' }).click();
  await rows.getByText('Earlier work').waitFor();
  expect(window.incidents).toEqual([]);
});

test('search finds sessions by title and by content', async () => {
  const window = await openSession(browser, { historyTurns: 3 });
  const search = window.page.getByRole('searchbox', { name: 'Search sessions' });
  await search.fill('earlier');
  const rows = window.page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await expect.poll(() => rows.count()).toBe(1);
  await search.fill('Question 2');
  await window.page.getByRole('list', { name: 'Search results' }).getByText('Question 2').waitFor();
  expect(await rows.count()).toBe(0);
});

test('an answer in another session marks it unread', async () => {
  const window = await openWindow(browser, { historyTurns: 1, replies: [{ text: 'tick '.repeat(40), pieceChars: 12, delayMs: 150 }] });
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await window.page.getByText('What can I do for you?').waitFor();
  await window.send('Take a moment');
  await window.conversation.getByText('tick tick').waitFor();
  await window.page.getByRole('link', { name: /Earlier work/ }).click();
  await window.page.getByRole('link', { name: /^unread: Take a moment/ }).waitFor();
  await window.page.getByRole('link', { name: /Take a moment/ }).click();
  await window.page.getByRole('link', { name: /^Take a moment/ }).waitFor();
});

test('a session of 2,000 turns keeps the page small and scrolls without jumps', async () => {
  const window = await openWindow(browser, { historyTurns: 2000 });
  await window.conversation.getByText('Question 2000', { exact: true }).waitFor();
  const seen = await window.page.evaluate<{ jumps: number[]; nodesMax: number; oldest: number }>(scrollUpSource(160, 200));
  expect(seen.jumps).toEqual([]);
  expect(seen.nodesMax).toBeLessThan(4000);
  // Far more than the fifty turns that were loaded at first.
  expect(seen.oldest).toBeLessThan(1900);
  const fast = await window.page.evaluate<{ jumps: number[]; oldest: number }>(scrollUpSource(1500, 75));
  expect(fast).toMatchObject({ jumps: [] });
  expect(fast.oldest).toBeLessThan(seen.oldest - 50);
  await window.page.getByRole('button', { name: 'Newest' }).click();
  await window.conversation.getByText('Question 2000', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

/**
 * Scrolls up in the given number of frames; with long steps this is faster than turns are loaded. In each frame, the element in the
 * middle must move by the scrolled distance, whatever was added or removed meanwhile. This is source text, because this file is checked
 * without browser types.
 */
function scrollUpSource(px: number, frames: number): string {
  return `new Promise((resolve) => {
    const region = document.querySelector('[role="log"]');
    const seen = { jumps: [], nodesMax: 0, oldest: Infinity };
    const middle = () => document.elementFromPoint(700, 400).closest('[data-turn]');
    let left = ${frames};
    const step = () => {
      const watched = middle();
      const topBefore = watched?.getBoundingClientRect().top ?? 0;
      const scrolled = Math.min(${px}, region.scrollTop);
      region.scrollTop -= scrolled;
      requestAnimationFrame(() => {
        if (watched?.isConnected) {
          const off = watched.getBoundingClientRect().top - topBefore - scrolled;
          if (Math.abs(off) > 2) seen.jumps.push(Math.round(off));
          seen.oldest = Math.min(seen.oldest, Number(watched.textContent.match(/Question (\\d+)/)?.[1] ?? Infinity));
        }
        seen.nodesMax = Math.max(seen.nodesMax, document.querySelectorAll('*').length);
        // A frame without anything to scroll waits for turns that load, as long as a busy machine takes for them.
        if (scrolled > 0) left -= 1;
        if (left > 0) step();
        else resolve(seen);
      });
    };
    step();
  })`;
}

test('while the reader is further up, new text does not move the view', async () => {
  const window = await openWindow(browser, {
    historyTurns: 12,
    replies: [{ text: 'A long line of words.\n\n'.repeat(60), pieceChars: 12, delayMs: 30 }],
  });
  await window.conversation.getByText('Question 12', { exact: true }).waitFor();
  await window.send('Talk');
  await window.conversation.getByText('A long line of words.').first().waitFor();
  const read = window.conversation.getByText('Question 10', { exact: true });
  const placeOfRead = (): Promise<number> => read.evaluate((element) => element.getBoundingClientRect().top);
  await read.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const before = await placeOfRead();
  await window.page.getByRole('button', { name: 'Newest' }).waitFor();
  await window.conversation.getByText('A long line of words.').nth(30).waitFor();
  // The scroll position changes, because earlier turns are added above, but the text that is read keeps its place.
  expect(Math.abs((await placeOfRead()) - before)).toBeLessThan(1);
});

/**
 * Scrolls up a little in every frame in which text arrives, and back to the end; resolves to how often the region jumped back to the end.
 */
const scrollsUndone = `(async () => {
  const region = document.querySelector('[role=log]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  let undone = 0;
  for (let round = 0; round < 40; round++) {
    region.scrollTop = region.scrollHeight;
    await frame();
    await frame();
    // At different moments, some of them just before text arrives.
    await new Promise((resolve) => setTimeout(resolve, round * 3));
    const top = region.scrollTop - 30;
    region.scrollTop = top;
    for (let wait = 0; wait < 8; wait++) await frame();
    if (region.scrollTop > top + 1) undone++;
  }
  return undone;
})()`;

test('a small scroll up is kept while text streams, even in a frame with new text', async () => {
  const window = await openSession(browser, {
    historyTurns: 3,
    replies: [{ text: 'A long line of words.\n\n'.repeat(600), pieceChars: 24, delayMs: 10 }],
  });
  await window.send('Talk');
  await window.conversation.getByText('A long line of words.').nth(40).waitFor();
  expect(await window.page.evaluate(scrollsUndone)).toBe(0);
});

test('a call interrupted by a crash waits until a person reports its outcome', async () => {
  const command = 'echo under way; sleep 60';
  const replies = [{ calls: [{ tool: 'exec', args: { command } }] }, { text: 'Then on with it.' }];
  let kept = '';
  const before = (home: string): Promise<void> => Promise.resolve(void (kept = join(home, 'running')));
  const window = await openWindow(browser, { ownProcess: true, replies, before });
  await window.send('Run it');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  // The command's output is stored from then on.
  await expect.poll(() => existsSync(kept)).toBe(true);
  await window.host.stop('SIGKILL');
  await window.host.start();
  await window.openAddress();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  const sessions = window.page.getByRole('list', { name: 'Sessions' });
  await sessions.getByText('Waiting for you: Did it happen?').waitFor();
  await window.go('Approvals');
  const card = window.page.getByRole('group', { name: 'Did it happen?' });
  await expect.poll(() => card.getByRole('button').allInnerTexts()).toEqual(['It happened', 'Run it again', 'Abandon']);
  await card.getByRole('button', { name: 'It happened' }).click();
  await window.page.getByText('Nothing is waiting for you.').waitFor();
  await window.go('Chat');
  await window.conversation.getByText('Then on with it.', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

test("activity shows a logged turn with decisions, reasons and the model's input", async () => {
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'list_dir', args: { path: '.' } }] }, { text: 'One file.' }] });
  await window.send('Look around');
  await window.conversation.getByText('One file.', { exact: true }).waitFor();
  await window.details.click();
  await window.page.getByRole('link', { name: 'What happened and why' }).click();
  await window.page.getByText('the workspace', { exact: true }).waitFor();
  const tree = window.page.getByRole('tree', { name: 'Tree' });
  await tree.getByRole('treeitem', { name: /^Listed/ }).click();
  await tree.getByText('Allowed: list this folder').waitFor();
  await tree.getByText('It only reads inside the workspace.').waitFor();
  await window.page.getByRole('button', { name: 'What the model saw' }).click();
  const saw = window.page.getByRole('region', { name: 'What the model saw' });
  const packId = await saw.getByText(/^trn_\w+-p\d+$/).innerText();
  // The number of tools depends on this computer.
  const { sections } = (await window.host.op('pack.get', { packId })) as { sections: readonly { name: string; items: number }[] };
  const tools = sections.find(({ name }) => name === 'tools')?.items ?? 0;
  expect(tools).toBeGreaterThanOrEqual(22);
  await saw.getByText(new RegExp(`^\\d\\.\\dk\\stokens, ${tools} items$`)).waitFor();
  await window.page.getByRole('button', { name: 'Replay the decisions' }).click();
  await window.page.getByText(/all \d+ decisions came out the same/).waitFor();
});

test('without a keychain the secrets say so, and a passphrase creates a vault', async () => {
  const window = await openWindow(browser);
  await window.page.evaluate("location.hash = '#/settings/secrets'");
  await window.page.getByText('This computer has no keychain that TrayClaw can use.').waitFor();
  expect(await window.page.getByRole('textbox', { name: 'Secret name' }).isDisabled()).toBe(true);
  expect(await window.page.getByRole('button', { name: 'Store secret' }).isDisabled()).toBe(true);
  expect(await window.page.getByRole('alert').count()).toBe(0);
  const secrets = window.page.getByRole('region', { name: 'Secrets' });
  await secrets.getByLabel('New vault passphrase').fill('correct horse battery');
  expect(await secrets.getByRole('button', { name: 'Create vault' }).isDisabled()).toBe(true);
  await secrets.getByLabel('Repeat passphrase').fill('correct horse battery');
  await secrets.getByRole('button', { name: 'Create vault' }).click();
  await window.page.getByRole('textbox', { name: 'Secret name' }).fill('lab');
  await window.page.getByLabel('Secret value').fill('123456:secret-value');
  await window.page.getByRole('button', { name: 'Store secret' }).click();
  await window.page.getByRole('list', { name: 'Secrets' }).getByText('lab').waitFor();
  expect(await window.page.content()).not.toContain('correct horse');
});

test('settings store a secret by name only', async () => {
  const window = await openSession(browser);
  // The person's own keychain must not be used, so its operations are answered here.
  const names = new Set(['lab-key']);
  const answerOp = async (name: string, answer: (params: { name: string }) => unknown): Promise<void> => {
    await window.page.route(`**/api/ops/${name}`, async (route) => {
      const result = answer(route.request().postDataJSON() as { name: string });
      await route.fulfill({ json: { ok: true, result } });
    });
  };
  await answerOp('secret.status', () => ({ store: 'keychain', locked: false, hasVault: false, detail: 'In the keychain.' }));
  await answerOp('secret.list', () => ({ names: [...names] }));
  await answerOp('secret.set', ({ name }) => ({ name: names.add(name) && name }));
  await answerOp('secret.delete', ({ name }) => ({ name, deleted: names.delete(name) }));
  await window.page.evaluate("location.hash = '#/settings/secrets'");
  await window.page.getByRole('textbox', { name: 'Secret name' }).fill('telegram');
  await window.page.getByLabel('Secret value').fill('123456:secret-value');
  await window.page.getByRole('button', { name: 'Store secret' }).click();
  await window.page.getByRole('list', { name: 'Secrets' }).getByText('telegram').waitFor();
  expect(await window.page.content()).not.toContain('secret-value');
  await window.page.getByRole('button', { name: 'Delete secret telegram' }).click();
  await window.page.getByRole('button', { name: 'Delete telegram for good' }).click();
  await expect.poll(() => window.page.getByRole('list', { name: 'Secrets' }).getByRole('listitem').allInnerTexts()).toHaveLength(1);
});

test('health verifies the log, and a long output opens as an artifact', async () => {
  const command = 'for i in $(seq 1 30000); do printf "line %s with a hidden \\342\\200\\213 space\\n" "$i"; done';
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'exec', args: { command } }] }, { text: 'Printed.' }] });
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.go('Health');
  await window.page.getByRole('button', { name: 'Verify the log' }).click();
  await window.page.getByText(/^Intact:/).waitFor();
  await window.go('Artifacts');
  await window.page.getByRole('list', { name: 'Artifacts' }).getByRole('link').click();
  const text = window.page.getByRole('group', { name: 'Artifact text' });
  await text.waitFor();
  expect(await text.innerText()).toMatch(/^line 1 with a hidden ‹U\+200B› space\nline 2 /);
});

test('a search hit opens its session at the text, marked and focused', async () => {
  const window = await openWindow(browser, { historyTurns: 200 });
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await window.page.getByText('What can I do for you?').waitFor();
  await window.page.getByRole('searchbox', { name: 'Search sessions' }).fill('Question 42');
  await window.page
    .getByRole('list', { name: 'Search results' })
    .getByRole('link', { name: /Question 42/ })
    .first()
    .click();
  const found = window.conversation.getByText('Question 42', { exact: true });
  await found.waitFor();
  await expect
    .poll(() =>
      found.evaluate(
        (element) =>
          element.ownerDocument.activeElement?.contains(element) === true &&
          element.ownerDocument.activeElement !== element.ownerDocument.body,
      ),
    )
    .toBe(true);
  const box = await found.boundingBox();
  expect(box !== null && box.y > 0 && box.y < 800).toBe(true);
  expect(await window.page.locator('.found').count()).toBe(1);
  await window.page.keyboard.press('PageDown');
  await window.conversation.getByText('Question 52', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'Newest' }).click();
  await window.conversation.getByText('Question 200', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('a message sent while a new session is created goes to that session', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Two eggs.' }, { text: 'It leaves at nine.' }] });
  const { page } = window;
  await window.send('How many eggs?');
  await window.conversation.getByText('Two eggs.').waitFor();
  const requests: { resume: () => void }[] = [];
  await page.route('**/api/ops/session.create', async (route) => {
    await new Promise<void>((resume) => requests.push({ resume }));
    await route.continue();
  });
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(() => requests.length).toBe(1);
  await window.message.focus();
  await page.keyboard.type('When does the train leave?');
  await page.keyboard.press('Enter');
  expect(await window.conversation.getByText('When does the train').count()).toBe(0);
  requests[0]?.resume();
  await window.conversation.getByText('It leaves at nine.').waitFor();
  expect(await window.conversation.getByText('Two eggs.').count()).toBe(0);
  expect(await window.message.inputValue()).toBe('');
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { lastText: string }[] };
  expect(sessions.map(({ lastText }) => lastText).sort()).toEqual(['It leaves at nine.', 'Two eggs.']);
});

test('a message is kept if the new session cannot be created', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Two eggs.' }] });
  const { page } = window;
  await window.send('How many eggs?');
  await window.conversation.getByText('Two eggs.').waitFor();
  let resume = (): void => undefined;
  await page.route('**/api/ops/session.create', async (route) => {
    await new Promise<void>((resolve) => (resume = resolve));
    await route.fulfill({ status: 507, json: { ok: false, error: { code: 'store_full', message: 'The disk is full.' } } });
  });
  const begin = page.getByRole('button', { name: 'New session', exact: true });
  await begin.click();
  await window.message.focus();
  await page.keyboard.type('A long thought');
  await page.keyboard.press('Enter');
  resume();
  await page.getByText('The disk is full.').waitFor();
  await page.unroute('**/api/ops/session.create');
  await begin.click();
  await expect.poll(() => window.message.inputValue()).toBe('A long thought');
});
