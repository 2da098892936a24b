// The model's input in the window: summaries in their place in the conversation, and the content of each request.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const counted = { text: 'Milk.', usage: { input: 4000, output: 20, cached: 3000 } };

async function runCommand({ page }: WindowUnderTest, letters: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill(letters);
  await page.keyboard.press('Enter');
}

test('a conversation is summarized from the palette, and the summary is shown in place', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { historyTurns: 8, replies: [counted] });
  const { page, conversation } = window;
  await conversation.getByText('Question 8', { exact: true }).waitFor();
  await runCommand(window, 'Summarize the conversation');
  const line = conversation.locator('summary', { hasText: /^\d+ messages summarized · read$/ });
  await line.waitFor();
  // The summary is between the messages it replaces and those that stay.
  const places = await conversation.locator('[data-turn]').allInnerTexts();
  const at = places.findIndex((text) => text.includes('messages summarized'));
  expect(at).toBeGreaterThan(0);
  expect(at).toBeLessThan(places.length - 1);
  const messages = Number(/(\d+) messages/.exec(await line.innerText())?.[1]);
  // In history written for specs, each turn contributes only its question.
  expect(messages).toBe(at);
  await page.getByText(`${messages} messages summarized.`, { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).first().click();

  await line.press('Enter');
  const summary = conversation.getByRole('group', { name: 'Summary', exact: true });
  await summary.waitFor();
  expect(await summary.innerText()).toContain('Question 1');
  await conversation.getByText('Extracted by rules, without a model.').waitFor();
  await looksGood(page, 'summed-up', () => summary.scrollIntoViewIfNeeded());
  await conversation.locator('summary', { hasText: /· close$/ }).press('Enter');
  await summary.waitFor({ state: 'detached' });

  await window.send('What is due?');
  await conversation.getByText('Milk.', { exact: true }).waitFor();
  await window.details.click();
  await page.getByRole('button', { name: /^Context \d+%/ }).click();
  const panel = page.getByRole('complementary', { name: 'Inspector' });
  await panel.getByText(new RegExp(`^Covers ${messages} messages from .+ to .+\\.$`)).waitFor();
  await panel.locator('summary', { hasText: 'summary' }).press('Enter');
  expect(await panel.getByRole('group', { name: 'Text: summary' }).innerText()).toContain('Question 1');
  expect(window.incidents).toEqual([]);
});

test('the next request is previewed with the written message; nothing is sent, and the focus returns', async () => {
  const window = await openSession(browser, { replies: [counted] });
  const { page } = window;
  await window.message.fill('Is the milk in the fridge?');
  await runCommand(window, 'preview');
  const preview = page.getByRole('dialog', { name: 'Next request' });
  await preview.getByText('lab/scripted', { exact: true }).waitFor();
  await preview.getByText(/estimated of at most/).waitFor();
  await preview
    .locator('summary', { hasText: /messages/i })
    .first()
    .click();
  await preview.locator('summary', { hasText: 'user' }).last().click();
  await preview.getByText('Is the milk in the fridge?').last().waitFor();
  await preview.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => window.message.evaluate((box) => box === box.ownerDocument.activeElement)).toBe(true);
  await window.message.press('Enter');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  await window.details.click();
  await page.getByRole('button', { name: /^Context \d+%/ }).click();
  await page.getByRole('complementary', { name: 'Inspector' }).getByRole('button', { name: 'Next request' }).click();
  await preview.getByText('lab/scripted', { exact: true }).waitFor();
  await looksGood(page, 'next-request');
  await preview.getByRole('button', { name: 'Close' }).click();
  await preview.waitFor({ state: 'detached' });
  expect(window.incidents).toEqual([]);
});

test('the palette says when there is nothing to summarize', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Hello.' }] });
  await window.send('Hi');
  await window.conversation.getByText('Hello.', { exact: true }).waitFor();
  await runCommand(window, 'Summarize the conversation');
  await window.page.getByText('There is nothing to summarize yet', { exact: false }).first().waitFor();
  expect(await window.conversation.getByText('summarized').count()).toBe(0);
});

test("each section shows its text, its omissions and the server's count, by keyboard", { timeout: 120_000 }, async () => {
  const rule = { text: 'Answer in one word.', agentId: 'main' };
  const window = await openSession(browser, { replies: [counted] });
  const { page, host } = window;
  await host.op('rule.pin', rule);
  await window.send('What is due?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  await window.details.click();
  await page.getByRole('button', { name: /^Context \d+%/ }).click();
  const panel = page.getByRole('complementary', { name: 'Inspector' });
  const sections = panel.getByRole('list', { name: 'Sections' });
  await sections.locator('summary', { hasText: 'pinned rules' }).press('Enter');
  expect(await sections.getByRole('group', { name: 'Text: pinned rules' }).innerText()).toBe('- Answer in one word.');
  await sections.locator('summary', { hasText: 'instructions' }).press('Enter');
  await sections.getByText('Shown as it is now. The log recorded only its size at the time.').waitFor();
  const facts = await panel.getByRole('definition').allInnerTexts();
  expect(facts).toContain('4.0k\u{a0}tokens');
  expect(facts.map((fact) => fact.trim())).toContain('3.0k\u{a0}tokens, 75%');
  expect(facts.some((fact) => /tokens, \d+% too (?:high|low)$/.test(fact.trim()))).toBe(true);
  const drawn = await panel.locator('.track').evaluate((track) => (track.firstElementChild?.clientWidth ?? 0) / track.clientWidth);
  expect(drawn).toBeCloseTo(0.75, 1);
  await looksGood(page, 'model-saw', () => sections.scrollIntoViewIfNeeded());
  expect(window.incidents).toEqual([]);
});

test('content left out of the request is reported at its section', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Done.' }] });
  const { page } = window;
  // More than the context window of an unknown model.
  await window.send('word '.repeat(40_000));
  await window.conversation.getByText('Done.', { exact: true }).waitFor();
  await window.details.click();
  await page.getByRole('button', { name: /^Context \d+%/ }).click();
  await page.getByText(/^(?:Cut|Left out): .+ The budget of the whole request was used up\./).waitFor();
});
