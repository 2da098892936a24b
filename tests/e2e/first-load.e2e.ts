// The requests of a page before it is usable, and their order: on a slow connection each sequential request costs half a second.

import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Delays a request; the routes are removed at the end because the page is reused. */
async function hold(page: Page, address: string, until: Promise<void>): Promise<void> {
  onTestFinished(() => page.unrouteAll({ behavior: 'ignoreErrors' }));
  await page.route(address, async (route) => {
    await until;
    await route.continue();
  });
}

const sessions = (page: Page) => page.getByRole('list', { name: 'Sessions' }).getByRole('link');
const operation = (request: Request): string => request.url().split('/api/ops/')[1] ?? '';

test("the sessions are requested while the window's script is still loading", async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await host.op('session.create', { title: 'Kept' });
  const asked = Promise.withResolvers<void>();
  page.on('request', (request) => operation(request) === 'session.list' && asked.resolve());
  await hold(page, '**/assets/window-*.js', asked.promise);
  await page.goto('about:blank');
  await window.openAddress();
  await sessions(page).filter({ hasText: 'Kept' }).waitFor();
});

test('nothing is requested twice at the start', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await sessions(page).or(page.getByText('What can I do for you?')).first().waitFor();
  await page.goto('about:blank');
  const asked: string[] = [];
  page.on('request', (request) => operation(request) !== '' && asked.push(`${operation(request)} ${request.postData() ?? ''}`));
  await window.openAddress();
  await page.getByText('What can I do for you?').waitFor();
  // The last request of the start.
  await expect.poll(() => asked.some((one) => one.startsWith('budget.get'))).toBe(true);
  expect(asked.filter((one, at) => asked.indexOf(one) !== at)).toEqual([]);
});

test('a start that connects slowly moves nothing before two seconds, and then says so', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await page.goto('about:blank');
  const canStream = Promise.withResolvers<void>();
  await hold(page, '**/api/events?*', canStream.promise);
  await window.openAddress();
  const banner = page.locator('section[aria-label="Connection"]');
  await banner.waitFor({ state: 'attached' });
  expect(await banner.evaluate((element) => element.getAnimations()[0]?.effect?.getTiming().delay)).toBe(2000);
  await banner.waitFor();
  expect(await banner.innerText()).toBe('Connecting to TrayClaw…');
  canStream.resolve();
  await banner.waitFor({ state: 'detached' });
  expect(window.incidents).toEqual([]);
});

test("events between the first answers and the stream's start are shown", async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await host.op('session.create', { title: 'Before' });
  await page.goto('about:blank');
  const canStream = Promise.withResolvers<void>();
  await hold(page, '**/api/events?*', canStream.promise);
  await window.openAddress();
  await sessions(page).filter({ hasText: 'Before' }).waitFor();
  await host.op('session.create', { title: 'Meanwhile' });
  canStream.resolve();
  await sessions(page).filter({ hasText: 'Meanwhile' }).waitFor();
});
