// Second opinions in the inspector: one that disagrees, requested by a person, and the governor's findings about the turn.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const judgement = {
  verdict: 'revise',
  best: null,
  disagreement: 0.8,
  text: 'About 3.9 million people.',
  reason: 'They differ by 200,000.',
};

test('the button gets a second opinion, and the disagreement is shown', { timeout: 120_000 }, async () => {
  const replies = [
    { text: 'Berlin has 3.7 million people.' },
    { text: 'Berlin has 3.9 million people.' },
    { text: JSON.stringify(judgement) },
  ];
  const config = {
    models: { default: 'lab/scripted', panels: { careful: { members: ['lab/other'], judge: 'lab/judge' } } },
    governor: { mode: 'observe' as const },
  };
  const window = await openWindow(browser, { replies, config });
  await window.send('How many people live in Berlin?');
  await window.conversation.getByText('Berlin has 3.7 million people.', { exact: true }).waitFor();
  await window.details.click();
  await window.page.getByRole('button', { name: 'Inspect this turn' }).click();
  const panel = window.page.getByRole('complementary', { name: 'Inspector' });
  await panel.getByRole('button', { name: 'Get a second opinion' }).click();
  const opinion = panel.getByRole('article');
  await opinion.waitFor();
  expect(await opinion.innerText()).toMatch(/A better answer is proposed\.\s+Disagreement: 80%/);
  expect(await opinion.innerText()).toContain('Requested by you, in the window');
  expect(await opinion.innerText()).toContain('Berlin has 3.9 million people.');
  expect(await opinion.innerText()).toContain('About 3.9 million people.');
  await looksGood(window.page, 'second-thoughts', () => opinion.scrollIntoViewIfNeeded());
  expect(window.incidents).toEqual([]);
});
