// Failed turns in the window: the reason, the next retry, retrying and dismissing them, with a count that is always visible.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DeadLetter } from '../../core/contracts/features/dead-letters.ts';
import { createTrayClaw } from '../../core/index.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type OpenOptions, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const refused = { refuse: 'unauthorized' } as const;
const down = { refuse: 'server-error' } as const;

/** Handles a message without a person present; it fails for a reason that may be temporary. */
async function failAway(home: string): Promise<void> {
  const claw = await createTrayClaw({ home });
  try {
    const { turnId } = await claw.op('message.send', { text: 'Send the report' }, { channel: 'telegram', actor: 'telegram:7' });
    await claw.op('turn.wait', { turnId });
    await expect.poll(async () => (await claw.op('dlq.list', {})).letters.map(({ state }) => state)).toEqual(['waiting']);
  } finally {
    await claw.close();
  }
}

const later = { deadLetters: { retries: 3, firstWaitMs: 7_200_000, longestWaitMs: 7_200_000 } };

async function open(options: OpenOptions): Promise<{ window: WindowUnderTest; rows: Locator; letters: () => Promise<DeadLetter[]> }> {
  const window = await openWindow(browser, options);
  return {
    window,
    rows: window.page.getByRole('list', { name: 'Failed turns' }).getByRole('listitem'),
    letters: async () => ((await window.host.op('dlq.list', {})) as { letters: DeadLetter[] }).letters,
  };
}

test('a failed turn says why and what helps; a successful retry removes it', async () => {
  const { window, rows, letters } = await open({ replies: [refused, { text: 'The milk is bought.' }] });
  const { page } = window;
  await window.message.waitFor();
  await window.send('Buy milk');
  const link = page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Health' });
  await expect.poll(() => link.getAttribute('aria-describedby')).not.toBeNull();
  await window.go('Health');
  await page.getByRole('link', { name: 'Unfinished, 1 waiting for you' }).click();
  await rows.getByText('Buy milk').waitFor();
  const [letter] = await letters();
  await rows.getByText(letter?.reason.message ?? 'no letter', { exact: true }).waitFor();
  await rows.getByText('needs a change').waitFor();
  await rows.getByText('waiting for you').waitFor();
  await rows.getByText('A retry would fail the same way until something is changed.').waitFor();
  await rows.getByRole('link', { name: 'Show the turn: Buy milk' }).click();
  await page.getByText('Model failed').first().waitFor();
  await page.goBack();
  await rows.getByRole('button', { name: 'Try again: Buy milk' }).press('Enter');
  await page.getByText('No failed turns.').waitFor();
  expect(await letters()).toEqual([]);
  await expect.poll(() => link.getAttribute('aria-describedby')).toBeNull();
  await window.go('Chat');
  await window.conversation.getByText('The milk is bought.').waitFor();
  expect(window.incidents).toEqual([]);
});

test('an unattended turn counts down to its retry; a dismissed one does not return', async () => {
  const { window, rows, letters } = await open({ replies: [down, down], config: later, before: failAway });
  const { page } = window;
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await page.getByText('What can I do for you?').waitFor();
  await window.send('Buy milk');
  await window.conversation.getByRole('alert').first().waitFor();
  await page.evaluate("location.hash = '#/health/unfinished'");
  const away = rows.filter({ hasText: 'Send the report' });
  await away.getByText('may be temporary').waitFor();
  const shown = async (): Promise<string> => (await away.getByText(/^Next attempt in/).textContent()) ?? '';
  const first = await shown();
  expect(first).toMatch(/^Next attempt in (?:1\sh \d+\smin|2\sh 0\smin)$/);
  await expect.poll(() => rows.count()).toBe(2);
  await looksGood(page, 'unfinished');
  await rows.getByRole('button', { name: 'Dismiss: Buy milk' }).press('Enter');
  await expect.poll(() => rows.count()).toBe(1);
  // The focus moves to the next row.
  await expect
    .poll(() => page.evaluate<string>('document.activeElement?.getAttribute("aria-label") ?? ""'))
    .toBe('Try again: Send the report');
  expect((await letters()).map(({ state }) => state)).toEqual(['waiting']);
  expect(window.incidents).toEqual([]);
});

test('dismissing all needs a second click', async () => {
  const { window, rows, letters } = await open({ replies: [refused, refused] });
  const { page } = window;
  for (const text of ['Buy milk', 'Buy bread']) {
    await page.getByRole('button', { name: 'New session', exact: true }).click();
    await page.getByText('What can I do for you?').waitFor();
    await window.send(text);
    await page.getByRole('alert').first().waitFor();
  }
  await expect.poll(async () => (await letters()).length).toBe(2);
  await page.evaluate("location.hash = '#/health/unfinished'");
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Dismiss all' }).click();
  expect((await letters()).length).toBe(2);
  await page.getByRole('button', { name: 'Press again to dismiss all' }).click();
  await page.getByText('No failed turns.').waitFor();
  expect(await letters()).toEqual([]);
  expect(await rows.count()).toBe(0);
});
