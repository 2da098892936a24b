// The cost of a key press and of a streamed piece, counted in layouts and frames instead of time.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** With motion, as most people have it. */
const context = { reducedMotion: 'no-preference' } as const;

test('a key in the message field causes one layout, and the field grows with its lines', async () => {
  const { page, message } = await openWindow(browser, { context });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const layouts = async (): Promise<number> => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'LayoutCount')?.value ?? Number.NaN;
  };
  await page.getByText('What can I do for you?').waitFor();
  await message.pressSequentially('first ');
  const before = await layouts();
  await message.pressSequentially('twenty letters of it', { delay: 40 });
  expect((await layouts()) - before).toBeLessThan(30);
  const height = async (): Promise<number> => (await message.boundingBox())?.height ?? 0;
  const one = await height();
  await message.fill('one\ntwo\nthree\nfour');
  expect(await height()).toBeGreaterThan(one + 40);
  await message.fill('line\n'.repeat(60));
  expect(await height()).toBeLessThanOrEqual(240);
  await cdp.detach();
});

test('a piece of an answer is scrolled to before it is painted, not a frame later', async () => {
  const window = await openWindow(browser, {
    context,
    replies: [{ text: 'Some words of a paragraph.\n\n'.repeat(240), pieceChars: 24, delayMs: 10 }],
  });
  const { page, conversation } = window;
  await page.evaluate(`{
    window.behind = [];
    new MutationObserver(() => {
      const log = document.querySelector('.streaming')?.closest('[role="log"]');
      if (log) window.behind.push(log.scrollHeight - log.clientHeight - Math.ceil(log.scrollTop));
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  }`);
  await window.send('Talk');
  await conversation.locator('.document:not(.streaming)').waitFor();
  const behind = await page.evaluate<number[]>('window.behind');
  expect(behind.length).toBeGreaterThan(10);
  expect(behind.filter((px) => px > 2).length).toBeLessThan(behind.length / 4);
});
