// Pinned rules in the window: listed, added, changed and removed, for a session or for an agent; from the panel, a message and the palette.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Rule {
  readonly text: string;
  readonly scope: string;
  readonly owner: string;
}

const panel = ({ page }: WindowUnderTest): Locator => page.getByRole('complementary', { name: 'Inspector' });

async function runCommand({ page }: WindowUnderTest, letters: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill(letters);
  await page.keyboard.press('Enter');
}

async function rulesOf({ host }: WindowUnderTest): Promise<string[]> {
  const { rules } = (await host.op('rule.list', {})) as { rules: Rule[] };
  return rules.map(({ scope, text }) => `${scope}: ${text}`);
}

const isFocused = (element: { ownerDocument: { activeElement: unknown } }): boolean => element === element.ownerDocument.activeElement;

test('a rule is pinned, changed and removed by keyboard, and each can be undone', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Milk.' }] });
  const { page } = window;
  await window.send('What is due?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  await runCommand(window, 'Pin a rule');
  const box = panel(window).getByRole('textbox', { name: 'New rule' });
  await expect.poll(() => box.evaluate(isFocused)).toBe(true);
  await page.keyboard.type('Answer in one word.');
  await page.keyboard.press('Enter');
  const list = panel(window).getByRole('list', { name: 'Rules', exact: true });
  await list.getByText('Answer in one word.').waitFor();
  expect(await rulesOf(window)).toEqual(['session: Answer in one word.']);

  await panel(window).getByRole('combobox', { name: 'Applies to' }).selectOption({ label: 'everything main does' });
  await box.fill('Never push.');
  await panel(window).getByRole('button', { name: 'Pin', exact: true }).press('Enter');
  await list.getByText('everything main does').waitFor();
  expect(await rulesOf(window)).toEqual(['session: Answer in one word.', 'agent: Never push.']);

  await list.getByRole('button', { name: 'Change the rule: Answer in one word.' }).press('Enter');
  const changed = list.getByRole('textbox', { name: 'Changed rule' });
  await changed.fill('Answer in two words.');
  await changed.press('Enter');
  await list.getByText('Answer in two words.').waitFor();
  expect(await rulesOf(window)).toEqual(['agent: Never push.', 'session: Answer in two words.']);
  await looksGood(page, 'rules', () => box.scrollIntoViewIfNeeded());

  await list.getByRole('button', { name: 'Unpin the rule: Never push.' }).press('Enter');
  await list.getByText('Never push.').waitFor({ state: 'detached' });
  expect(await box.evaluate(isFocused)).toBe(true);
  await page.getByText('Unpinned: Never push.').first().waitFor();
  await page.getByRole('button', { name: 'Undo', exact: true }).press('Enter');
  await list.getByText('Never push.').waitFor();
  expect(await rulesOf(window)).toEqual(['session: Answer in two words.', 'agent: Never push.']);
  expect(window.incidents).toEqual([]);
});

test('a message is pinned from its menu; a long one is shortened first', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'All right.' }, { text: 'That is long.' }] });
  const { page } = window;
  await window.send('Always say where you found it.');
  await window.conversation.getByText('All right.', { exact: true }).waitFor();
  const pin = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Actions for your message' }).last().press('Enter');
    await page.getByRole('menuitem', { name: 'Pin as a rule' }).press('Enter');
  };
  await pin();
  await page.getByText('Pinned as a rule: Always say where you found it.').first().waitFor();
  expect(await rulesOf(window)).toEqual(['session: Always say where you found it.']);
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(() => rulesOf(window)).toEqual([]);

  await window.send(`Long: ${'x'.repeat(1_000)}`);
  await window.conversation.getByText('That is long.', { exact: true }).waitFor();
  await pin();
  await panel(window).getByText('A rule may have at most 1,000 characters; this one has 1,006.').waitFor();
  expect(await panel(window).getByRole('button', { name: 'Pin', exact: true }).isDisabled()).toBe(true);
  expect(await rulesOf(window)).toEqual([]);
});

test("a rule is pinned in an empty session; an agent's rule is shown with the agent", async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  // The palette offers to pin only once the session is open.
  await page.getByRole('list', { name: 'Sessions' }).locator('[aria-current=page]', { hasText: 'New session' }).waitFor();
  await runCommand(window, 'Pin a rule');
  const box = page.getByRole('textbox', { name: 'New rule' });
  await box.fill('Always in French.');
  await box.press('Enter');
  await page.getByRole('list', { name: 'Rules', exact: true }).getByText('Always in French.').waitFor();
  // Meanwhile a rule is pinned through another door.
  await host.op('rule.pin', { text: 'Never at night.', agentId: 'main' });
  await page.getByRole('list', { name: 'Rules', exact: true }).getByText('Never at night.').waitFor();
  await page.keyboard.press('Alt+Shift+7');
  const main = page.getByRole('list', { name: 'Agents' }).getByRole('region', { name: 'main' });
  await main.locator('summary', { hasText: 'Pinned rules' }).press('Enter');
  await main.getByText('Never at night.').waitFor();
  expect(await main.getByText('Always in French.').count()).toBe(0);
  await main.getByRole('button', { name: 'Unpin the rule: Never at night.' }).press('Enter');
  await main.getByText('No pinned rules.').waitFor();
  expect(window.incidents).toEqual([]);
});
