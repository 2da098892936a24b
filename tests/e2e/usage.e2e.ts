// Usage as charts and as tables: figures of real turns by day, model and session, accessible by sight, keyboard and screen reader.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { colourRules, violations } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function openUsage(window: WindowUnderTest): Promise<void> {
  await window.go('Health');
  await window.page.getByRole('link', { name: 'Usage', exact: true }).click();
  await window.page.getByRole('radio', { name: 'Tokens' }).waitFor();
}

interface Usage {
  readonly rows: readonly {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly modelCalls: number;
    readonly costUsd: number;
  }[];
}

test("two turns are listed by day, model and session, with the host's figures", async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }, { text: 'Two.' }] });
  const { page } = window;
  for (const [text, answer] of [
    ['First question', 'One.'],
    ['Second question', 'Two.'],
  ] as const) {
    await window.send(text);
    await window.conversation.getByText(answer, { exact: true }).waitFor();
  }
  const { rows } = (await window.host.op('usage.get', { by: 'model' })) as Usage;
  expect(rows).toMatchObject([{ modelCalls: 2 }]);
  const [row] = rows;
  await openUsage(window);
  const models = page.getByRole('table', { name: 'Per model' });
  await models.getByRole('row', { name: /^lab\/scripted 2 / }).waitFor();
  const cells = await models
    .getByRole('row', { name: /^lab\/scripted/ })
    .getByRole('cell')
    .allInnerTexts();
  expect(cells.slice(0, 4)).toEqual(['2', String(row?.inputTokens), '0', String(row?.outputTokens)]);
  expect(cells[4]).toBe(`$${row?.costUsd.toFixed(4)}`);
  expect(cells[5]).toMatch(/^\d.*\s(?:ms|s) \/ \d.*\s(?:ms|s)$/);
  await page.getByRole('table', { name: 'Per session' }).getByRole('link', { name: 'First question' }).waitFor();
  // The head of a figure names its unit.
  expect(await page.getByRole('definition').first().innerText()).toMatch(/^[\d,]+$/);

  // The arrow keys move along the days, and each value is announced.
  const said = page.getByRole('status', { name: 'Value' });
  await page.getByRole('group', { name: 'Tokens per day' }).focus();
  expect(await said.innerText()).toMatch(
    new RegExp(`: ${row?.inputTokens} tokens in, 0 of them from the cache, ${row?.outputTokens} out; 2 model calls\\.$`),
  );
  await page.keyboard.press('ArrowLeft');
  expect(await said.innerText()).toMatch(/: no model call\.$/);
  await page.keyboard.press('End');
  await page.getByText('Cost', { exact: true }).first().click();
  await page.getByRole('group', { name: 'Cost per day' }).focus();
  expect(await said.innerText()).toMatch(/\$0\.0\d+; 2 model calls\.$/);
  await page.getByText('Latency', { exact: true }).click();
  await page.getByRole('group', { name: 'Latency per day' }).focus();
  expect(await said.innerText()).toMatch(/first word after .+, full answer after .+ \(50th \/ 95th percentile\); 2 model calls\.$/);

  await page.getByText('As a table').click();
  expect(await page.getByRole('table', { name: 'Per day' }).getByRole('row').count()).toBe(2);
  await page.getByRole('combobox', { name: 'Time' }).selectOption({ label: 'Last 7 days' });
  await page.getByRole('group', { name: 'Latency per day' }).focus();
  await page.keyboard.press('Home');
  expect(await said.innerText()).toMatch(/: no model call\.$/);
  expect(window.incidents).toEqual([]);
});

test('no violations with figures, light, dark and high contrast, wide and narrow', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }], context: { reducedMotion: 'reduce' } });
  const { page } = window;
  await window.send('A question');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await openUsage(window);
  await page.getByText('As a table').click();
  await page.getByRole('table', { name: 'Per day' }).waitFor();
  const found: string[] = [];
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    for (const look of [
      { colorScheme: 'light' as const, contrast: null },
      { colorScheme: 'dark' as const, contrast: null },
      { colorScheme: 'dark' as const, contrast: 'more' as const },
    ]) {
      await page.emulateMedia(look);
      const wrong = await violations(page, look.colorScheme === 'light' ? {} : { rules: colourRules });
      found.push(...wrong.map((one) => `at ${width}: ${one}`));
    }
  }
  expect(found).toEqual([]);
});

test('an empty view says what it would show', async () => {
  const window = await openWindow(browser);
  await window.page.goto(`${window.host.origin}/#/health/usage`);
  await window.page.getByText('No model was called in this period.').waitFor();
  await window.page.getByRole('link', { name: 'Ask something' }).click();
  await window.page.getByRole('log').waitFor();
});
