// The whole tour with the keyboard alone: ask, approve, open a card, view the activity, change a setting, rename, stop, release. Uses no
// pointer and never sets the focus from outside.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const stepsMax = 80;
const focused = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return '';
  const label = element.labels?.[0]?.textContent ?? '';
  return (element.getAttribute('aria-label') ?? (label || element.textContent)).trim().replace(/\\s+/g, ' ');
})()`;

const focusedName = (page: Page): Promise<string> => page.evaluate<string>(focused);

/** Presses the key until the focus is on the element with this name. */
async function reach(page: Page, name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < stepsMax; step++) {
    await page.keyboard.press(key);
    const at = await focusedName(page);
    if (typeof name === 'string' ? at === name : name.test(at)) return;
    passed.push(at);
  }
  throw new Error(`${String(name)} was not reached; passed: ${passed.join(' | ')}`);
}

test('the whole tour needs no pointer', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, {
    replies: [{ calls: [{ tool: 'write_file', args: { path: 'plan.md', content: '# Plan\n' } }] }, { text: 'The plan is written.' }],
    context: { reducedMotion: 'reduce' },
  });
  const { page, host, conversation, approval } = window;
  const title = (name: string): Promise<void> => page.getByRole('heading', { level: 1, name }).waitFor();

  // The first message: the focus is in the message field.
  await expect.poll(() => focusedName(page)).toBe('Message');
  await page.keyboard.type('Write a plan');
  await page.keyboard.press('Enter');

  // An approval, which Enter in the message field does not give.
  await approval.waitFor();
  await page.keyboard.press('Enter');
  expect(await host.readFile('plan.md')).toBe(null);
  await expect.poll(() => approval.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true);
  await reach(page, 'Approve once', 'Shift+Tab');
  await page.keyboard.press('Space');
  await conversation.getByText('The plan is written.', { exact: true }).waitFor();
  expect(await host.readFile('plan.md')).toBe('# Plan\n');

  // The card of the call.
  await page.keyboard.press('Alt+Shift+3');
  await title('Activity');
  await page.keyboard.press('Alt+Shift+1');
  await title('Write a plan');
  await expect.poll(() => focusedName(page)).toBe('Message');
  await reach(page, /^Wrote plan\.md|^Write plan\.md/, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('group', { name: 'Result' }).waitFor();

  // The inspector, and back to the previous focus.
  await page.keyboard.press('Alt+Shift+I');
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  await inspector.waitFor();
  await expect.poll(() => inspector.evaluate((element) => element.contains(element.ownerDocument.activeElement))).toBe(true);
  await page.keyboard.press('Escape');
  await inspector.waitFor({ state: 'detached' });
  expect(await focusedName(page)).toMatch(/plan\.md/);

  // A setting.
  await page.keyboard.press('Alt+Shift+0');
  await title('Settings');
  expect(await focusedName(page)).toBe('Settings');
  await reach(page, /^Compact/);
  await page.keyboard.press('Space');
  expect(await page.evaluate('document.documentElement.dataset.density')).toBe('compact');

  // Renaming a session, from any view.
  await page.keyboard.press('Alt+Shift+1');
  await title('Write a plan');
  await page.keyboard.press('F2');
  await expect.poll(() => focusedName(page)).toBe('Session title');
  await page.keyboard.type('The plan');
  await page.keyboard.press('Enter');
  await title('The plan');

  // The palette, and back to the previous focus.
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Commands' }).waitFor();
  await page.keyboard.type('health');
  await page.keyboard.press('Enter');
  await title('Health');

  // Panic stop and release.
  await page.keyboard.press('Control+Shift+Period');
  await page.getByText('Everything is stopped.').first().waitFor();
  await expect.poll(() => focusedName(page)).toBe('Stopped');
  await expect.poll(() => page.getByRole('button', { name: 'Release panic stop' }).isEnabled()).toBe(true);
  await reach(page, 'Release panic stop', 'Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Stopped' }).waitFor({ state: 'detached' });
  expect(await host.op('panic.status', {})).toMatchObject({ engaged: false });
  expect(window.incidents).toEqual([]);
});
