// Approvals as a person answers them: the card and its text, its keys, what must not approve, the queue, decided approvals, and revoking.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood, shoot, violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const write = (path: string) => ({ tool: 'write_file', args: { path, content: `${path}\n` } });
const threeQuestions = [{ calls: [write('one/a.md'), write('two/b.md'), write('three/c.md')] }, { text: 'All answered.' }];

/** Long enough for a busy machine. */
const patience = { timeout: 15_000, interval: 20 };
const once = (window: WindowUnderTest) => window.approval.getByRole('button', { name: 'Approve once' });
const isReady = (window: WindowUnderTest): Promise<void> => expect.poll(() => once(window).isEnabled(), patience).toBe(true);
const pending = async (window: WindowUnderTest): Promise<number> => {
  const { approvals } = (await window.host.op('approval.list', {})) as { approvals: unknown[] };
  return approvals.length;
};

/** Causes three approvals at once and opens the queue. */
async function toQueue(window: WindowUnderTest): Promise<void> {
  await window.send('Write three files');
  await window.approval.first().waitFor();
  await expect.poll(() => pending(window), patience).toBe(3);
  await window.go('Approvals');
  await window.page.getByText('1 of 3', { exact: true }).waitFor();
}

test('the card says effect, risk, change, source, and how far an approval may reach', { timeout: 150_000 }, async () => {
  const edit = { tool: 'edit_file', args: { path: 'notes.md', old: 'Buy milk.', new: 'Buy bread.' } };
  const window = await openSession(browser, { replies: [{ calls: [edit] }, { text: 'Changed.' }] });
  const { page, approval } = window;
  await window.send('Change my notes');
  await approval.getByRole('region', { name: 'What would change' }).locator('ins').waitFor();
  await approval.getByText('Details', { exact: true }).click();
  await approval.getByRole('button', { name: 'Allow more…' }).click();
  const text = await approval.innerText();
  const places = [
    'Wants to edit notes.md',
    'It creates or changes these files.',
    '-Buy milk.',
    '+Buy bread.',
    'Approve once',
    'Deny',
    'A wider approval would cover',
    'Came from',
  ].map((words) => text.indexOf(words));
  expect(places.every((place) => place >= 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  const described = (await approval.getAttribute('aria-describedby')) ?? '';
  const heard = await Promise.all(described.split(' ').map((part) => page.locator(`#${part}`).innerText()));
  expect(heard).toEqual([expect.stringMatching(/^Wants to edit notes\.md/), expect.stringMatching(/^It creates or changes these files/)]);
  await isReady(window);
  expect(window.incidents).toEqual([]);
  await looksGood(page, 'card', async () =>
    expect(await violations(page, { within: '[data-approval]', rules: ['color-contrast-enhanced'] })).toEqual([]),
  );
});

test('all of the queue are denied together, and the focus stays in the page', async () => {
  const window = await openSession(browser, { replies: threeQuestions });
  await toQueue(window);
  await window.page.getByRole('button', { name: 'Deny all 3' }).click();
  await window.page.getByText('3 calls denied.').first().waitFor();
  expect(await pending(window)).toBe(0);
  await expect
    .poll(() => window.page.evaluate<boolean>("document.activeElement.hasAttribute('data-after-approvals')"), patience)
    .toBe(true);
  await window.go('Chat');
  await window.conversation.getByText('All answered.').waitFor();
  for (const path of ['one/a.md', 'two/b.md', 'three/c.md']) expect(await window.host.readFile(path)).toBeNull();
  expect(window.incidents).toEqual([]);
});

test('a held key and Enter approve nothing; A approves once and focuses the next card', async () => {
  const window = await openSession(browser, { replies: threeQuestions });
  const { page, approval } = window;
  await toQueue(window);
  await isReady(window);
  await approval.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  // The key is held down: its first press happens before the card has the focus, so the card only gets repeats.
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Approvals', exact: true }).focus();
  await page.keyboard.down('a');
  await approval.focus();
  for (let repeat = 0; repeat < 5; repeat++) await page.keyboard.down('a');
  await page.keyboard.up('a');
  await page.keyboard.press('Control+a');
  expect(await pending(window)).toBe(3);

  await page.keyboard.press('a');
  await page.getByText('1 of 2', { exact: true }).waitFor();
  const isAtHeading = () => page.evaluate<boolean>("document.activeElement.hasAttribute('data-heading')");
  await expect.poll(isAtHeading, patience).toBe(true);
  await isReady(window);
  // The focus moved automatically: a key answers only after the person has moved to the card.
  await page.keyboard.press('d');
  expect(await pending(window)).toBe(2);
  await page.keyboard.press('Tab');
  await page.keyboard.press('d');
  await approval.getByText('Wants to write three/c.md').waitFor();
  await expect.poll(isAtHeading, patience).toBe(true);
  await isReady(window);
  await page.keyboard.press('Tab');
  await page.keyboard.press('d');
  await page.getByText('Nothing is waiting for you.').waitFor();
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent'), patience).toBe('Nothing is waiting for you.');
  await expect.poll(() => window.host.readFile('one/a.md'), patience).toBe('one/a.md\n');
  expect([await window.host.readFile('two/b.md'), await window.host.readFile('three/c.md')]).toEqual([null, null]);
  await page.getByText(/^Denied: write three\/c\.md/).waitFor({ state: 'attached' });
  expect(window.incidents).toEqual([]);
});

test('a second click at the same place does not answer the card that appeared there', async () => {
  const window = await openSession(browser, { replies: threeQuestions });
  const { page } = window;
  await toQueue(window);
  await isReady(window);
  const box = await once(window).boundingBox();
  if (box === null) throw new Error('the button is on the screen');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2, { clickCount: 2, delay: 5 });
  await page.getByText('1 of 2', { exact: true }).waitFor();
  expect(await pending(window)).toBe(2);
  expect(window.incidents).toEqual([]);
});

test('a new card, or one with a new neighbour, ignores clicks for a moment', async () => {
  const window = await openWindow(browser, { replies: threeQuestions });
  const { page } = window;
  // Records every change of the button from the moment it appears, and clicks it at once.
  await page.evaluate(`(() => {
    window.seen = [];
    new MutationObserver(() => {
      const button = [...document.querySelectorAll('[data-approval] button')].find((one) => one.textContent.includes('Approve once'));
      if (!button) return;
      const state = button.getAttribute('aria-disabled');
      if (window.seen.at(-1) !== state) window.seen.push(state);
      if (state === 'true') button.click();
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  })()`);
  await window.send('Write three files');
  await expect.poll(() => pending(window), patience).toBe(3);
  await expect.poll(() => once(window).first().isEnabled(), patience).toBe(true);
  expect(await pending(window)).toBe(3);
  expect(await page.evaluate<string[]>('window.seen')).toEqual(expect.arrayContaining(['true', 'false']));
  expect((await page.evaluate<string[]>('window.seen'))[0]).toBe('true');
});

test('the queue is walked by mouse and keyboard, and any card can be answered first', async () => {
  const window = await openSession(browser, { replies: threeQuestions });
  const { page, approval } = window;
  await toQueue(window);
  expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true);
  await page.getByRole('button', { name: 'Next' }).click();
  await approval.getByText('Wants to write two/b.md').waitFor();
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await approval.focus();
  await page.keyboard.press('n');
  await page.getByText('3 of 3', { exact: true }).waitFor();
  await page.keyboard.press('p');
  await page.getByText('2 of 3', { exact: true }).waitFor();
  await shoot(page, 'queue');
  await page.getByRole('list', { name: 'Queue' }).getByRole('button').nth(2).click();
  await approval.getByText('Wants to write three/c.md').waitFor();
  await isReady(window);
  expect(await violations(page)).toEqual([]);
  await once(window).click();
  await page.getByText('2 of 2', { exact: true }).waitFor();
  await approval.getByText('Wants to write two/b.md').waitFor();
});

test('decided approvals are listed, and a revoked grant says that this is final', async () => {
  const window = await openWindow(browser, { replies: threeQuestions });
  const { page, approval } = window;
  await toQueue(window);
  await isReady(window);
  await approval.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('1 of 2', { exact: true }).waitFor();
  await isReady(window);
  await approval.getByRole('button', { name: 'Allow more…' }).click();
  await approval.getByRole('button', { name: 'Approve for this session' }).click();
  const decided = page.getByRole('list', { name: 'History' });
  await expect.poll(() => decided.getByRole('listitem').count(), patience).toBe(2);
  await page.getByRole('combobox', { name: 'Answer' }).selectOption('denied');
  await expect.poll(() => decided.getByRole('listitem').allInnerTexts(), patience).toEqual([expect.stringContaining('one/a.md')]);
  await page.getByRole('combobox', { name: 'Answer' }).selectOption('');
  await page.getByRole('searchbox', { name: 'Find a decision' }).fill('two/b');
  await expect.poll(() => decided.getByRole('listitem').allInnerTexts(), patience).toEqual([expect.stringContaining('for the session')]);
  await page.getByText('Revoking takes effect at once and cannot be undone.').waitFor();
  await page
    .getByRole('list', { name: 'Grants' })
    .getByRole('button', { name: /^Revoke: / })
    .click();
  await page.getByText('No grants yet.').waitFor();
  expect(window.incidents).toEqual([]);
});

test('the queue names the sessions only if there are several', async () => {
  const one = { calls: [write('a.md'), write('b.md')] };
  const window = await openSession(browser, { replies: [one, { calls: [write('a.md')] }] });
  const { page, host } = window;
  const rows = page.getByRole('list', { name: 'Queue' }).getByRole('listitem');
  await window.send('Plant the garden');
  await expect.poll(() => pending(window), patience).toBe(2);
  await window.go('Approvals');
  await rows.nth(1).waitFor();
  expect(await rows.filter({ hasText: 'Plant the garden' }).count()).toBe(0);
  await host.op('message.send', { text: 'Clean the kitchen' });
  await rows.nth(2).getByText('Clean the kitchen').waitFor();
  await page.getByText('Details · Plant the garden', { exact: true }).waitFor();
  expect(await rows.filter({ hasText: 'Plant the garden' }).count()).toBe(2);
});

/** Notes each text that a polite region gets. */
const noteSaid = `(() => {
  window.said = [];
  new MutationObserver((changes) => {
    for (const { target, addedNodes } of changes)
      if (target.nodeType === 1 && target.closest('[aria-live=polite]')) window.said.push(...[...addedNodes].map((node) => node.textContent));
  }).observe(document, { subtree: true, childList: true });
})()`;

test('each approval of a turn is announced', async () => {
  const window = await openWindow(browser, { replies: threeQuestions, initScript: noteSaid });
  await window.send('Write three files');
  const said = (): Promise<string[]> => window.page.evaluate<string[]>('window.said');
  for (const path of ['one/a.md', 'two/b.md', 'three/c.md']) {
    await expect.poll(said, patience).toContainEqual(expect.stringMatching(`^Approval needed: Wants to write ${path}`));
  }
});

test('a turn that waits says so once in the conversation', async () => {
  const window = await openSession(browser, { replies: [{ calls: [write('a.md')] }] });
  await window.send('Write it');
  await window.approval.waitFor();
  const said = window.conversation.getByText(/^waiting for you$/i);
  const boxes = await Promise.all((await said.all()).map((place) => place.boundingBox()));
  // The word for screen readers has one pixel.
  expect(boxes.filter((box) => (box?.width ?? 0) > 1)).toHaveLength(1);
});

test('of many approvals a few are drawn in each frame, until all are there', async () => {
  const calls = Array.from({ length: 12 }, (_, index) => write(`${index}.md`));
  const window = await openWindow(browser, { replies: [{ calls }] });
  const { page, approval } = window;
  await window.send('Write them');
  await approval.nth(11).waitFor();
  await window.go('Approvals');
  await page.getByText('1 of 12', { exact: true }).waitFor();
  await page.evaluate('(held = [], draws = requestAnimationFrame, requestAnimationFrame = (frame) => held.push(frame))');
  await window.go('Chat');
  await approval.first().waitFor();
  expect(await approval.count()).toBe(4);
  await page.evaluate('(requestAnimationFrame = draws, held.forEach((frame) => frame(0)))');
  await approval.nth(11).waitFor();
  await window.conversation.getByRole('button', { name: 'Deny all' }).waitFor();
  expect(window.incidents).toEqual([]);
});
