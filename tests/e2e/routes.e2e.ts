// Routes in the window: how the settings show them, and why another model answered after the first one failed.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('the second model answers, the turn says why, the settings show the first resting', { timeout: 180_000 }, async () => {
  const model = await ScriptedModel.start([{ answer: { text: 'The second one says hello.' } }]);
  // The refusal states a long delay: the default would be over before a busy machine has opened the settings.
  const busy = await ScriptedModel.start([{ answer: { refuse: 'rate-limited', retryAfterSeconds: 3_600 } }]);
  onTestFinished(() => Promise.all([model.close(), busy.close()]).then(() => undefined));
  const provider = (baseUrl: string) => ({ kind: 'openai-compatible' as const, baseUrl: `${baseUrl}/v1` });
  const window = await openWindow(browser, {
    config: {
      providers: { busy: provider(busy.origin), near: provider(model.origin) },
      models: { default: 'route/everyday', retries: 0, routes: { everyday: { candidates: ['busy/large', 'near/small'] } } },
    },
  });
  const { page } = window;
  await window.send('Hello');
  await window.conversation.getByText('The second one says hello.', { exact: true }).waitFor();
  await window.details.click();
  await page.getByRole('button', { name: 'Inspect this turn' }).click();
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  await inspector.getByText(/^Route everyday: /).waitFor();
  expect(await inspector.innerText()).toContain('near/small');
  await looksGood(page, 'route-why', () => inspector.scrollIntoViewIfNeeded());
  await page.evaluate("location.hash = '#/settings/models'");
  const routes = page.getByRole('list', { name: 'Routes' });
  await routes.getByText(/cooling down/).waitFor();
  expect(await routes.innerText()).toMatch(/busy\/large[\s\S]*cooling down for [\s\S]*near\/small[\s\S]*healthy/);
  await looksGood(page, 'routes', () => routes.scrollIntoViewIfNeeded());
  expect(window.incidents).toEqual([]);
});
