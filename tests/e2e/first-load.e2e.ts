// The requests of a page before it can be used, and their order: on a slow line each wait for another answer is half a second.

import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Deferred } from '../../core/base/deferred.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** The page goes to the next test. */
async function hold(page: Page, address: string, until: Promise<void>): Promise<void> {
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.route(address, async (route) => {
    await until;
    await route.continue();
  });
}

const sessions = (page: Page) => page.getByRole('list', { name: 'Sessions' }).getByRole('link');
const operation = (request: Request): string => request.url().split('/api/ops/')[1] ?? '';

test('the sessions are asked for while the script of the window is still on its way', async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await host.op('session.create', { title: 'Kept' });
  const asked = new Deferred<void>();
  page.on('request', (request) => operation(request) === 'session.list' && asked.resolve());
  await hold(page, '**/assets/window-*.js', asked.promise);
  await page.goto('about:blank');
  await window.openAddress();
  await sessions(page).filter({ hasText: 'Kept' }).waitFor();
});

test('nothing is asked for twice at the start', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await sessions(page).or(page.getByText('What can I do for you?')).first().waitFor();
  await page.goto('about:blank');
  const asked: string[] = [];
  page.on('request', (request) => operation(request) !== '' && asked.push(`${operation(request)} ${request.postData() ?? ''}`));
  await window.openAddress();
  await page.getByText('What can I do for you?').waitFor();
  // The last of them.
  await expect.poll(() => asked.some((one) => one.startsWith('budget.get'))).toBe(true);
  expect(asked.filter((one, at) => asked.indexOf(one) !== at)).toEqual([]);
});

test('what happens after the first answers and before the stream is there is shown', async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await host.op('session.create', { title: 'Before' });
  await page.goto('about:blank');
  const canStream = new Deferred<void>();
  await hold(page, '**/api/events?*', canStream.promise);
  await window.openAddress();
  await sessions(page).filter({ hasText: 'Before' }).waitFor();
  await host.op('session.create', { title: 'Meanwhile' });
  canStream.resolve();
  await sessions(page).filter({ hasText: 'Meanwhile' }).waitFor();
});
