// Moments in which a slip must be harmless: the stop and its release, a destructive call, a long change, a key meant for another card.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSoak } from '../soak.ts';
import { looksGood, shoot, violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const patience = { timeout: 15_000, interval: 20 };
const runs = (command: string) => ({ tool: 'exec', args: { command } });
const writes = (path: string, content = 'x\n') => ({ tool: 'write_file', args: { path, content } });
const once = (window: WindowUnderTest) => window.approval.getByRole('button', { name: 'Approve once' });
const isReady = (window: WindowUnderTest): Promise<void> => expect.poll(() => once(window).isEnabled(), patience).toBe(true);
const isEngaged = async ({ host }: WindowUnderTest): Promise<boolean> =>
  ((await host.op('panic.status', {})) as { engaged: boolean }).engaged;
const pending = async ({ host }: WindowUnderTest): Promise<number> =>
  ((await host.op('approval.list', {})) as { approvals: unknown[] }).approvals.length;
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(() => {
    const at = document.activeElement;
    return at === document.body ? 'BODY' : at.getAttribute('aria-label') ?? at.textContent.trim();
  })()`);

async function centreOf(page: Page, name: string): Promise<{ x: number; y: number }> {
  const box = await page.getByRole('button', { name, exact: true }).boundingBox();
  if (box === null) throw new Error(`${name} is on the screen`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Milliseconds: from 50 to 950 in steps of 150; in the long run up to 1,000 in steps of 50. */
const gaps = Array.from({ length: 20 }, (_, index) => 50 * (index + 1)).filter((_, index) => isSoak || index % 3 === 0);

test('two clicks on the stop leave it engaged, whatever the time between them', { timeout: 240_000 }, async () => {
  const window = await openSession(browser);
  const { page, host } = window;
  await page.getByRole('button', { name: 'Panic stop', exact: true }).waitFor();
  const { x, y } = await centreOf(page, 'Panic stop');
  const left: number[] = [];
  for (const gap of gaps) {
    await page.mouse.click(x, y);
    await page.waitForTimeout(gap);
    await page.mouse.click(x, y);
    await page.getByRole('region', { name: 'Stopped' }).waitFor();
    await page.waitForTimeout(60);
    if (!(await isEngaged(window))) left.push(gap);
    await host.op('panic.release', {});
    await page.getByRole('button', { name: 'Panic stop', exact: true }).waitFor();
  }
  expect(left).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('by keyboard: the focus moves to the banner, repeats do nothing', async () => {
  const window = await openSession(browser);
  const { page } = window;
  await page.getByRole('button', { name: 'Panic stop', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => focused(page), patience).toBe('Stopped');
  const release = page.getByRole('button', { name: 'Release panic stop' });
  expect(await release.isDisabled()).toBe(true);
  for (const key of ['Enter', 'Space', 'Control+Shift+Period', 'Enter']) await page.keyboard.press(key);
  expect([await isEngaged(window), await focused(page)]).toEqual([true, 'Stopped']);
  await expect.poll(() => release.isEnabled(), patience).toBe(true);
  await page.keyboard.press('Tab');
  expect([await isEngaged(window), await focused(page)]).toEqual([true, 'Release panic stop']);
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Stopped' }).waitFor({ state: 'detached' });
  expect(await isEngaged(window)).toBe(false);
  await expect.poll(() => focused(page), patience).toBe('New session');
  expect(window.incidents).toEqual([]);
});

test('the release is never where the stop was; the banner links to what was stopped', { timeout: 120_000 }, async () => {
  const command = 'echo under way; sleep 60';
  const window = await openWindow(browser, { replies: [{ calls: [runs(command)] }] });
  const { page } = window;
  await window.send('Wait a minute');
  await once(window).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Health');
  const stop = page.getByRole('button', { name: 'Panic stop', exact: true });
  const before = await stop.boundingBox();
  await stop.click();
  const after = await page.getByRole('button', { name: 'Stopped', exact: true }).boundingBox();
  expect([after?.x, after?.y]).toEqual([before?.x, before?.y]);
  const banner = page.getByRole('region', { name: 'Stopped' });
  await banner.getByText('Stopped: Wait a minute.').waitFor();
  await looksGood(page, 'stopped', async () => {
    const [held, release] = await Promise.all([
      page.getByRole('button', { name: 'Stopped', exact: true }).boundingBox(),
      page.getByRole('button', { name: 'Release panic stop' }).boundingBox(),
    ]);
    if (held === null || release === null) throw new Error('both are on the screen');
    expect(release.y >= held.y + held.height).toBe(true);
  });
  await banner.getByRole('link', { name: 'See what was stopped' }).click();
  await window.conversation.getByText('Panic stop ended this turn.').waitFor();
  // A retry would be refused now.
  const again = window.conversation.getByRole('button', { name: 'Try again' });
  expect(await again.isDisabled()).toBe(true);
  // The command was killed before it finished: none of it counts as done, but its output so far is kept.
  await window.conversation.getByText(/^under way\n\[cancelled/).waitFor();
  expect(await window.conversation.getByText(/^Kept:/).count()).toBe(0);
  await window.send('Go on');
  const alert = page.getByRole('region', { name: 'Notices' }).getByRole('alert').getByText('Everything is stopped');
  await alert.waitFor();
  await page.getByRole('button', { name: 'Release panic stop' }).click();
  await alert.waitFor({ state: 'detached' });
  expect(await again.isEnabled()).toBe(true);
  expect(window.incidents).toEqual([]);
});

test('an error message never covers the send or stop button', { timeout: 90_000 }, async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await window.host.op('panic.engage', { reason: 'a look' });
  await page.getByRole('region', { name: 'Stopped' }).waitFor();
  for (const [width, height] of [
    [1280, 800],
    [360, 640],
  ] as const) {
    await page.setViewportSize({ width, height });
    await window.send('Go on');
    const notice = page.getByRole('region', { name: 'Notices' });
    await notice.getByText('Everything is stopped').waitFor();
    const box = await notice.boundingBox();
    if (box === null) throw new Error('the notice is on the screen');
    for (const name of ['Send', 'Stopped', 'Release panic stop']) {
      const button = await page.getByRole('button', { name, exact: true }).boundingBox();
      if (button === null) throw new Error(`${name} is on the screen`);
      const apart =
        box.x >= button.x + button.width ||
        button.x >= box.x + box.width ||
        box.y >= button.y + button.height ||
        button.y >= box.y + box.height;
      expect({ width, name, apart }).toEqual({ width, name, apart: true });
    }
    await shoot(page, `notice-${width}`);
  }
});

test('a destructive call names the loss and needs a second action, without a key', { timeout: 150_000 }, async () => {
  const command = 'rm -rf build dist && git push --force origin main';
  const window = await openSession(browser, { replies: [{ calls: [runs(command)] }, { text: 'Over.' }] });
  const { page, approval } = window;
  await window.send('Clean up and publish');
  await approval.getByRole('heading', { name: 'Deletes build and dist and everything inside, and force-pushes to origin/main' }).waitFor();
  await isReady(window);
  const names = await approval.getByRole('button').evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.textContent.trim()));
  expect(names).toEqual(['Approve once', 'Deny', 'Other answers']);
  await looksGood(page, 'destructive', async () =>
    expect(await violations(page, { within: '[data-approval]', rules: ['color-contrast-enhanced', 'target-size'] })).toEqual([]),
  );
  await approval.focus();
  await page.keyboard.press('a');
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  expect([await pending(window), await approval.getByRole('button', { name: 'Yes, approve' }).count()]).toEqual([1, 0]);

  const first = await centreOf(page, 'Approve once');
  await page.mouse.click(first.x, first.y, { clickCount: 2, delay: 5 });
  await page.mouse.click(first.x, first.y);
  const yes = approval.getByRole('button', { name: 'Yes, approve' });
  await yes.waitFor();
  const box = await yes.boundingBox();
  expect(box !== null && (first.y < box.y || first.x < box.x)).toBe(true);
  expect(await pending(window)).toBe(1);
  await expect.poll(() => yes.isEnabled(), patience).toBe(true);
  await shoot(page, 'destructive-second');
  await yes.click();
  await window.conversation.getByText('Over.', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('after an answer the focus waits at the next heading, where no key answers', { timeout: 90_000 }, async () => {
  const replies = [{ calls: [writes('one.md'), runs('rm -rf build dist'), writes('three.md')] }, { text: 'Over.' }];
  const window = await openSession(browser, { replies });
  const { page, approval } = window;
  await window.send('Do three things');
  await expect.poll(() => pending(window), patience).toBe(3);
  await window.go('Approvals');
  await page.getByText('1 of 3', { exact: true }).waitFor();
  await isReady(window);
  await approval.focus();
  await page.keyboard.press('d');
  await page.getByText('1 of 2', { exact: true }).waitFor();
  const isHeading = () => page.evaluate<boolean>("document.activeElement.hasAttribute('data-heading')");
  await expect.poll(isHeading, patience).toBe(true);
  await isReady(window);
  for (const key of ['a', 'd', 'Enter', 'a']) await page.keyboard.press(key);
  await page.waitForTimeout(300);
  expect(await pending(window)).toBe(2);
  // Once the person moves to the card, its key denies but never approves.
  await page.keyboard.press('Tab');
  await page.keyboard.press('a');
  await page.waitForTimeout(300);
  expect(await pending(window)).toBe(2);
  await page.keyboard.press('d');
  await approval.getByText('Wants to write three.md').waitFor();
  await expect.poll(isHeading, patience).toBe(true);
  await isReady(window);
  await page.keyboard.press('a');
  await page.waitForTimeout(300);
  expect(await pending(window)).toBe(1);
  await page.keyboard.press('Tab');
  await page.keyboard.press('a');
  await expect.poll(() => pending(window), patience).toBe(0);
  await expect.poll(() => window.host.readFile('three.md'), patience).toBe('x\n');
  expect(window.incidents).toEqual([]);
});

test('a long change is shown fully, and approving it unread is labelled as such', { timeout: 150_000 }, async () => {
  const values = (end: string): string => Array.from({ length: 200 }, (_, n) => `export const value${n} = ${n}${end};\n`).join('');
  const replies = [
    { calls: [writes('values.ts', values(''))] },
    { text: 'Made.' },
    { calls: [writes('values.ts', values(' * 2'))] },
    { text: 'All changed.' },
  ];
  const window = await openWindow(browser, { replies });
  const { page, approval } = window;
  await window.send('Write the values');
  await once(window).click();
  await window.conversation.getByText('Made.', { exact: true }).waitFor();
  await window.send('Double every value');
  const change = approval.getByRole('region', { name: 'What would change' });
  await change.locator('ins').first().waitFor();
  await isReady(window);
  const counts = await Promise.all([change.locator('ins').count(), change.locator('del').count()]);
  expect(Math.min(...counts)).toBeGreaterThan(100);
  expect(await change.locator('[data-line="1"]').count()).toBe(2);
  await approval.getByRole('button', { name: 'Approve once without reading 100 lines' }).waitFor();
  await looksGood(page, 'long-change');
  await page.setViewportSize({ width: 1000, height: 420 });
  // The frame is as high as the window, and the rail scrolls.
  expect((await page.getByRole('main').boundingBox())?.height).toBe(420 - 48);
  await openAgain(window);
  // The conversation goes to its end first, and to the beginning of a card that does not fit once the change is laid out.
  await expect.poll(() => startsOnScreen(window)).toBe(true);
  await shoot(page, 'long-change-small');
  await approval.focus();
  await page.keyboard.press('a');
  await page.waitForTimeout(300);
  expect(await pending(window)).toBe(1);
  await approval.getByRole('button', { name: /^Show more/ }).click();
  await approval.getByRole('button', { name: 'Approve once', exact: true }).waitFor();
  await isReady(window);
  await once(window).click();
  await window.conversation.getByText('All changed.', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});

async function openAgain(window: WindowUnderTest): Promise<void> {
  await window.go('Health');
  await window.go('Chat');
  await window.approval.getByRole('region', { name: 'What would change' }).waitFor();
  await isReady(window);
}

async function startsOnScreen({ approval, conversation }: WindowUnderTest): Promise<boolean> {
  const [card, log] = [await approval.boundingBox(), await conversation.boundingBox()];
  return card !== null && log !== null && card.y >= log.y - 1 && card.y < log.y + log.height / 2;
}

test('a denial may have a note for the agent; typing it answers nothing', { timeout: 60_000 }, async () => {
  const window = await openSession(browser, { replies: [{ calls: [writes('plan.md')] }, { text: 'I asked for another way.' }] });
  const { page, approval } = window;
  await window.send('Write a plan');
  await isReady(window);
  await approval.getByRole('button', { name: 'Other answers' }).click();
  await approval.getByRole('menuitem', { name: 'Deny with a note…' }).click();
  await page.keyboard.press('Enter');
  await page.keyboard.type('add it to draft.md instead');
  expect(await pending(window)).toBe(1);
  await page.keyboard.press('Enter');
  await window.conversation.getByText('I asked for another way.', { exact: true }).waitFor();
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { sessionId: string }[] };
  const { events } = (await window.host.op('session.get', { sessionId: sessions[0]?.sessionId })) as {
    events: { type: string; body: { reason?: string } }[];
  };
  expect(events.find(({ type }) => type === 'approval.decided')?.body.reason).toBe('add it to draft.md instead');
  expect(await window.host.readFile('plan.md')).toBe(null);
});

test('the card of a small edit is small', { timeout: 120_000 }, async () => {
  const edit = { tool: 'edit_file', args: { path: 'notes.md', old: 'Buy milk.', new: 'Buy bread.' } };
  const window = await openSession(browser, { replies: [{ calls: [edit] }, { text: 'Changed.' }] });
  const { page, approval } = window;
  await window.send('Change my notes');
  await approval.locator('ins').waitFor();
  await isReady(window);
  const height = (await approval.boundingBox())?.height ?? 0;
  const words = (await approval.innerText()).split(/\s+/).length;
  expect({ isLow: height <= 240, isShort: words <= 45, height, words }).toMatchObject({ isLow: true, isShort: true });
  await looksGood(page, 'small-edit', async () =>
    expect(await violations(page, { within: '[data-approval]', rules: ['color-contrast-enhanced', 'target-size'] })).toEqual([]),
  );
});

test('nothing in a long conversation moves Panic stop out of the window', async () => {
  const files = Array.from({ length: 6 }, (_, index) => ({ tool: 'write_file', args: { path: `${index}.md`, content: 'x' } }));
  const window = await openWindow(browser, { historyTurns: 12, replies: [{ text: 'Several.', calls: files }] });
  const { page, approval } = window;
  await window.send('Write them');
  await expect.poll(() => approval.count()).toBe(6);
  for (const left of [5, 4, 3]) {
    const deny = approval.getByRole('button', { name: 'Deny', exact: true }).first();
    await deny.focus();
    await expect.poll(() => deny.getAttribute('aria-disabled')).toBe('false');
    await deny.press('Enter');
    await expect.poll(() => approval.count()).toBe(left);
  }
  const scrolled = await page.evaluate<number[]>(`(() => {
    const { scrollingElement: page } = document;
    page.scrollTop = 1000;
    return [page.scrollTop, document.body.scrollTop, document.querySelector('#app').scrollTop];
  })()`);
  expect(scrolled).toEqual([0, 0, 0]);
});
