// Short messages over the content: what confirms success leaves without a click, unless the person points at it; a failure stays.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** The clock of intervals runs ten times as fast. */
const initScript = 'const { setInterval: real } = window; window.setInterval = (work, ms) => real(work, ms / 10);';

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
  await verifyLog(window);
  await good.hover();
  // Two of its intervals.
  await page.waitForTimeout(1_300);
  expect(await good.count()).toBe(1);
  await page.route('**/api/ops/audit.verify', (route) => route.abort());
  await page.mouse.move(0, 0);
  await good.waitFor({ state: 'detached' });
  await verifyLog(window);
  await notices.getByRole('alert').waitFor();
  await page.waitForTimeout(1_300);
  expect(await notices.getByRole('alert').count()).toBe(1);
});
