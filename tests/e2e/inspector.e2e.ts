// The inspector next to the conversation: one turn in figures, the model's input, stored memories; by mouse and keyboard, wide and narrow.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openSession, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const read = { calls: [{ tool: 'read_file', args: { path: 'notes.md' } }], usage: { input: 1200, output: 30 } };
const print = { calls: [{ tool: 'exec', args: { command: 'for i in $(seq 1 30000); do echo "line $i"; done' } }] };

interface Pack {
  readonly packId: string;
  readonly tokens: number;
  readonly budgetTokens: number;
  readonly sections: readonly { readonly name: string; readonly tokens: number; readonly items: number }[];
}

function panel(window: WindowUnderTest) {
  return window.page.getByRole('complementary', { name: 'Inspector' });
}

const isFocused = (element: { ownerDocument: { activeElement: unknown } }): boolean => element === element.ownerDocument.activeElement;

test('it is closed at first, shows the turn in figures, and returns the focus', async () => {
  const window = await openSession(browser, { replies: [read, { text: 'Milk.', usage: { input: 1500, output: 20 } }] });
  await window.send('What is in my notes?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  expect(await panel(window).count()).toBe(0);
  await window.details.click();
  const button = window.page.getByRole('button', { name: 'Inspect this turn' });
  await button.focus();
  await window.page.keyboard.press('Enter');
  await expect.poll(() => panel(window).getByRole('heading', { name: 'This turn' }).evaluate(isFocused)).toBe(true);
  expect(await button.getAttribute('aria-expanded')).toBe('true');
  // The turn's end is recorded after its last text.
  await expect.poll(() => panel(window).innerText()).toMatch(/Status\s+Done/);
  const text = await panel(window).innerText();
  expect(text).toMatch(/Model\s+lab\/scripted/);
  expect(text).toMatch(/Requests to the model\s+2/);
  expect(text).toMatch(/Tokens\s+2,700 in \(0 cached\), 50 out/);
  expect(text).toMatch(/Cost\s+\$0\.0058/);
  expect(text).toMatch(/Calls\s+1 done/);
  await window.page.keyboard.press('Escape');
  await panel(window).waitFor({ state: 'detached' });
  expect(await button.evaluate(isFocused)).toBe(true);
  expect(await button.getAttribute('aria-expanded')).toBe('false');
  expect(window.incidents).toEqual([]);
});

test("the model's input matches the host's pack: sections, tokens, room, requests", async () => {
  const window = await openSession(browser, { replies: [read, { text: 'Milk.' }] });
  await window.send('What is in my notes?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  await window.details.click();
  await window.page.getByRole('button', { name: /^Context \d+%/ }).click();
  await expect.poll(() => panel(window).getByRole('heading', { name: 'What the model saw' }).evaluate(isFocused)).toBe(true);
  const sections = panel(window).getByRole('list', { name: 'Sections' });
  await sections.waitFor();
  const chooser = panel(window).getByRole('combobox', { name: 'Pack' });
  const packId = await chooser.inputValue();
  const pack = (await window.host.op('pack.get', { packId })) as Pack;
  const rows = (await sections.getByRole('listitem').allInnerTexts()).map((row) => row.replace(/\s+/g, ' '));
  const names = {
    system: 'Instructions',
    messages: 'Messages',
    tools: 'Tools',
    about_material: 'Note on material',
    skill_cards: 'Skills',
  } as Record<string, string>;
  expect(rows).toHaveLength(pack.sections.length + 1);
  for (const [index, { name, items }] of pack.sections.entries()) {
    expect(rows[index]).toMatch(new RegExp(`^${names[name] ?? name} .*tokens, ${items} items?$`));
  }
  expect(rows.at(-1)).toMatch(/^Free .*tokens$/);
  // The bar is drawn to scale.
  const widths = await panel(window)
    .locator('.bar > *')
    .evaluateAll((pieces) => pieces.map((piece) => piece.getBoundingClientRect().width));
  const whole = widths.reduce((sum, width) => sum + width, 0);
  expect((widths.at(-1) ?? 0) / whole).toBeCloseTo((pack.budgetTokens - pack.tokens) / pack.budgetTokens, 1);
  await panel(window).getByText('Nothing was left out.').waitFor();
  await chooser.selectOption({ label: 'Request 1 of 2' });
  await panel(window).getByText(packId.replace(/2$/, '1'), { exact: true }).waitFor();
  await sections.getByText(/^messages/).click();
  await panel(window).locator('summary', { hasText: 'user' }).first().click();
  await panel(window)
    .getByRole('group', { name: /^Message \d+, user$/ })
    .getByText('What is in my notes?')
    .waitFor();
  expect(window.incidents).toEqual([]);
});

test('memories stored by a turn are listed with their size and linked', async () => {
  const window = await openSession(browser, { replies: [print, { text: 'Printed.' }] });
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.details.click();
  await window.page.getByRole('button', { name: 'Inspect this turn' }).click();
  const region = panel(window).getByRole('region', { name: 'Artifacts' });
  const link = region.getByRole('link');
  await link.waitFor();
  expect(await region.innerText()).toMatch(/\d+\skB/);
  await link.click();
  await window.page.getByRole('heading', { name: 'Artifacts', exact: true }).first().waitFor();
  expect(window.page.url()).toContain('#/artifacts/');
});

test('it follows a running turn, and belongs to its session', async () => {
  const window = await openSession(browser, {
    replies: [read, { text: 'word '.repeat(120), pieceChars: 10, delayMs: 50 }, { text: 'Other.' }],
  });
  await window.send('Look and tell');
  await window.conversation.getByText('word word').waitFor();
  await window.details.click();
  await window.page.getByRole('button', { name: 'Inspect this turn' }).click();
  await panel(window)
    .getByText(/^Running/)
    .waitFor();
  await panel(window).getByText('Done', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await panel(window).waitFor({ state: 'detached' });
  await window.page.getByRole('link', { name: /Look and tell/ }).click();
  await panel(window).getByText('Done', { exact: true }).waitFor();
});

const places = [
  [1280, 'beside'],
  [900, 'over'],
  [360, 'instead'],
] as const;

test('at each width the inspector has its place: next to, over or in place of the conversation', async () => {
  const window = await openSession(browser, { replies: [read, { text: 'Milk.' }] });
  await window.send('What is in my notes?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  await window.details.click();
  for (const [width, place] of places) await standsAt(window, width, place);
});

async function standsAt(window: WindowUnderTest, width: number, place: (typeof places)[number][1]): Promise<void> {
  await window.page.setViewportSize({ width, height: 800 });
  const before = await window.conversation.boundingBox();
  await window.page.getByRole('button', { name: 'Inspect this turn' }).click();
  const box = await panel(window).boundingBox();
  const after = place === 'instead' ? null : await window.conversation.boundingBox();
  if (box === null || before === null) throw new Error('the panel is not laid out');
  expect(box.width).toBe(360);
  if (place === 'beside') expect((after?.x ?? 0) + (after?.width ?? 0)).toBeLessThanOrEqual(box.x);
  if (place === 'over') expect(after).toEqual(before);
  expect(await window.conversation.isVisible()).toBe(place !== 'instead');
  expect(await window.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  await panel(window).getByRole('button', { name: 'Close the inspector' }).click();
  await panel(window).waitFor({ state: 'detached' });
  expect(await window.conversation.isVisible()).toBe(true);
}

test('it passes the accessibility rules, light and dark, wide and narrow', async () => {
  const window = await openSession(browser, { replies: [print, { text: 'Printed.' }] });
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: /^Ran / }).click();
  await window.details.click();
  await window.page.getByRole('button', { name: 'Inspect this turn' }).click();
  await panel(window).getByRole('list', { name: 'Sections' }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await window.page.emulateMedia({ colorScheme });
    for (const width of [1280, 360]) {
      await window.page.setViewportSize({ width, height: 800 });
      expect({ colorScheme, width, found: await violations(window.page) }).toEqual({ colorScheme, width, found: [] });
    }
  }
});

test('it is made wider by keys, and a double click takes the usual width', async () => {
  const window = await openSession(browser, { replies: [{ text: 'Wide.' }] });
  await window.send('Say it');
  await window.conversation.getByText('Wide.', { exact: true }).waitFor();
  await window.page.keyboard.press('Alt+Shift+I');
  const edge = panel(window).getByRole('separator', { name: 'Width of the inspector' });
  const width = async (): Promise<number> => Math.round((await panel(window).boundingBox())?.width ?? 0);
  await edge.press('ArrowLeft');
  await expect.poll(width).toBe(400);
  await edge.dblclick();
  await expect.poll(width).toBe(360);
  await edge.press('Escape');
  await panel(window).waitFor({ state: 'detached' });
});
