// Short messages over the content: what confirms success leaves without a click, unless the person points at it; a failure stays.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Intervals pass when the spec says so, because a busy machine may need longer than one to reach a notice. */
const initScript = `
  const works = new Map();
  window.setInterval = (work) => {
    const id = 1_000_000 + works.size;
    works.set(id, work);
    return id;
  };
  const { clearInterval: real } = window;
  window.clearInterval = (id) => (works.has(id) ? works.set(id, () => undefined) : real(id));
  window.passIntervals = () => works.forEach((work) => work());
`;

async function verifyLog({ page }: WindowUnderTest): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: 'Verify the log' }).click();
}

test('success leaves without a click, but not under the pointer; a failure stays', async () => {
  const window = await openWindow(browser, { initScript });
  const { page } = window;
  await page.getByText('What can I do for you?').waitFor();
  const notices = page.getByRole('region', { name: 'Notices' });
  const good = notices.getByText(/^The log is intact/);
  const passTwo = async (): Promise<void> => {
    for (let passed = 0; passed < 2; passed++) await page.evaluate('passIntervals()');
  };
  await verifyLog(window);
  await good.hover();
  await passTwo();
  expect(await good.count()).toBe(1);
  await page.route('**/api/ops/audit.verify', (route) => route.abort());
  await page.mouse.move(0, 0);
  await passTwo();
  await good.waitFor({ state: 'detached' });
  await verifyLog(window);
  await notices.getByRole('alert').waitFor();
  await passTwo();
  expect(await notices.getByRole('alert').count()).toBe(1);
});
