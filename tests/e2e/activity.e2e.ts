// Activity as a person uses it: a turn described in words and as a tree, filtered, searched across sessions, replayed and exported.

import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';
import { watchWork } from './driver/worked-ms.ts';
import { longSessionId, longTurnId } from './host/one-long-turn.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const replies = [
  {
    calls: [
      { tool: 'read_file', args: { path: 'notes.md' } },
      { tool: 'read_file', args: { path: 'missing.md' } },
    ],
  },
  { calls: [{ tool: 'write_file', args: { path: 'plan.md', content: '# Plan\n' } }] },
  { text: 'The plan is written.' },
];

/** The address of the worked turn in a window that has it already. */
const addresses = new WeakMap<WindowUnderTest, string>();

/** A turn that read, failed once, asked for approval, got it and wrote; specs that only look at it share it. */
async function workedTurn(window: WindowUnderTest): Promise<void> {
  const address = addresses.get(window);
  if (address !== undefined) return window.page.evaluate(`location.hash = ${JSON.stringify(address)}`);
  await window.send('Make a plan of my notes');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('The plan is written.', { exact: true }).waitFor();
  await window.details.click();
  await window.page.getByRole('link', { name: 'What happened and why' }).last().click();
  await window.page.getByRole('region', { name: 'Turn' }).waitFor();
  addresses.set(window, new URL(window.page.url()).hash);
}

test('a turn describes what it did, what it saw, why, and what it cost', { timeout: 150_000 }, async () => {
  const window = await openSession(browser, { replies });
  const { page } = window;
  await workedTurn(window);
  const told = page.getByRole('region', { name: 'Turn' });
  for (const words of [
    '3 calls: read 2 times, write.',
    'Outcomes: 2 done, 1 failed.',
    'Changed 1 file:',
    'Went wrong:',
    '3 requests to lab/scripted.',
    'Needed approval:',
    'Ended: done.',
  ]) {
    await told.getByText(words).first().waitFor();
  }
  await told.getByText('Wants to write plan.md (7 bytes)').first().waitFor();
  expect(
    await told
      .locator('dl')
      .getByText(/approved from/)
      .count(),
  ).toBe(1);
  expect(window.incidents).toEqual([]);
  await looksGood(page, 'activity');
});

test('filters by kind and text narrow a turn; a click on an event opens its record', async () => {
  const window = await openSession(browser, { replies });
  const { page } = window;
  await workedTurn(window);
  const tree = page.getByRole('tree', { name: 'Tree' });
  await tree.getByText('Turn ended: done').waitFor();
  await page
    .getByRole('group', { name: 'Kinds shown' })
    .getByRole('button', { name: /^Approvals \d+$/ })
    .click();
  await tree.getByText('Turn ended: done').waitFor({ state: 'detached' });
  // Matching events are expanded.
  for (const left of ['Approval requested', 'Approved by']) await tree.getByRole('treeitem', { name: new RegExp(`^${left}`) }).waitFor();
  expect(await tree.getByRole('treeitem', { name: /^Model answered/ }).count()).toBe(0);
  await page.getByText(/^4 of \d+ events$/).waitFor();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Find in this turn' }).fill('missing.md');
  await tree.getByText('Tried to read missing.md: failed').waitFor();
  expect(await tree.getByText('plan.md').count()).toBe(0);
  await tree.getByRole('treeitem', { name: /^Tried to read missing\.md: failed/ }).click();
  await tree
    .getByRole('group', { name: /^Record: Tried to read missing\.md/ })
    .getByText('"outcome": "error"')
    .waitFor();
  await page.getByRole('searchbox', { name: 'Find in this turn' }).fill('nothing has this');
  await page.getByText('No event matches.').waitFor();
  expect(window.incidents).toEqual([]);
});

test('arrow keys walk the tree, down to the decision about a call', { timeout: 150_000 }, async () => {
  const window = await openSession(browser, { replies });
  const { page } = window;
  await workedTurn(window);
  const tree = page.getByRole('tree', { name: 'Tree' });
  await tree.getByRole('treeitem', { name: /^Whole turn/ }).focus();
  const focused = (): Promise<string> =>
    page.evaluate<string>(
      "document.activeElement.getAttribute('aria-level') + ' ' + document.activeElement.textContent.trim().replace(/\\s+/g, ' ')",
    );
  await page.keyboard.press('ArrowRight');
  expect(await focused()).toMatch(/^2 Start/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toMatch(/^2 Step 1/);
  // The first press collapses the item, the second moves to its parent.
  await page.keyboard.press('ArrowLeft');
  expect(await focused()).toMatch(/^2 Step 1/);
  await page.keyboard.press('ArrowLeft');
  expect(await focused()).toMatch(/^1 Whole turn/);
  await page.keyboard.press('ArrowLeft');
  expect(await tree.getByRole('treeitem').count()).toBe(1);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('End');
  expect(await focused()).toMatch(/^\d Turn ended: done/);

  const call = tree.getByRole('treeitem', { name: /^Wrote plan\.md/ });
  await call.focus();
  expect(await call.getAttribute('aria-expanded')).toBe('false');
  await page.keyboard.press('Enter');
  await tree.getByRole('treeitem', { name: /^Must ask: write plan\.md/ }).waitFor();
  for (const below of [/^Approval requested/, /^Approved by/, /^Checkpoint before a/, /^Wrote plan\.md: done/, /^Checked: as expected/]) {
    expect(await tree.getByRole('treeitem', { name: below }).count()).toBe(1);
  }
  expect(window.incidents).toEqual([]);
  await looksGood(page, 'tree');
});

test('a search across sessions leads to the event in its turn', { timeout: 150_000 }, async () => {
  const window = await openWindow(browser, { replies: [...replies, { text: 'Nothing to do.' }], longTurnEvents: 40 });
  const { page } = window;
  await workedTurn(window);
  await page.goto(`${window.host.origin}/#/activity/${longSessionId}`);
  const search = page.getByRole('searchbox', { name: 'Search activity' });
  await search.fill('missing');
  const hits = page.getByRole('list', { name: 'Search results' });
  await hits.getByRole('link').filter({ hasText: 'failed' }).click();
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toContain('Tried to read missing.md: failed');
  await page.getByRole('heading', { name: 'Make a plan of my notes' }).waitFor();
  await search.fill('');
  await page.getByText('Filters', { exact: true }).click();
  await page.getByLabel('Tool', { exact: true }).selectOption('write_file');
  await page.getByLabel('Outcome', { exact: true }).selectOption('ok');
  await expect.poll(() => hits.getByRole('link').count()).toBe(1);
  await hits.getByRole('link').click();
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toContain('Wrote plan.md: done');
  expect(window.incidents).toEqual([]);
  await looksGood(page, 'search');
  await search.press('Escape');
  await page.getByRole('list', { name: 'Turns' }).waitFor();
});

test('a turn is replayed with the same outcome and exported to a file', async () => {
  const window = await openSession(browser, { replies });
  const { page } = window;
  await workedTurn(window);
  await page.getByRole('button', { name: 'Replay the decisions' }).click();
  await page
    .getByRole('status', { name: 'Replay result' })
    .getByText(/^Identical: all \d+ decisions came out the same/)
    .waitFor();
  const saved = async (name: string): Promise<{ name: string; text: string }> => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
  };
  const told = await saved('As Markdown');
  expect(told.name).toMatch(/^trn_\w+\.md$/);
  expect(told.text).toContain('- Approval requested: Wants to write plan.md (7 bytes).');
  const lines = await saved('As JSON lines');
  const types = lines.text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
  expect([types[0], types.at(-1)]).toEqual(['user.message', 'turn.finished']);
});

test('an old turn is shown by its address, and a missing one is reported', async () => {
  const window = await openWindow(browser, { longTurnEvents: 60 });
  const { page } = window;
  await page.goto(`${window.host.origin}/#/activity/${longSessionId}/${longTurnId}`);
  await page.getByRole('heading', { name: 'Read every page of the handbook' }).waitFor();
  await page.goto(`${window.host.origin}/#/activity/${longSessionId}/trn_gone`);
  await page.getByText('This turn is not in the log.').waitFor();
});

/** From the change of the address to the frame that shows the last event. */
const timeOfTurn = `(async () => {
  const begin = performance.now();
  location.hash = '#/activity/${longSessionId}/${longTurnId}';
  for (;;) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (document.querySelectorAll('[role=treeitem]').length >= 100) break;
    if (performance.now() - begin > 10000) return -1;
  }
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - begin;
})()`;

test('500 events of a turn take the window at most 200 ms of work', async () => {
  const window = await openWindow(browser, { longTurnEvents: 500 });
  const { page } = window;
  const workedMs = await watchWork(page);
  const rounds: { worked: number; passed: number }[] = [];
  for (let round = 0; round < 5; round++) {
    await page.goto(`${window.host.origin}/#/health`);
    await page
      .getByText(/ checks passed$/)
      .first()
      .waitFor();
    const before = await workedMs();
    const passed = await page.evaluate<number>(timeOfTurn);
    rounds.push({ worked: (await workedMs()) - before, passed });
  }
  expect(rounds.every(({ passed }) => passed > 0)).toBe(true);
  const told = rounds.map(({ worked, passed }) => `${Math.round(worked)} ms of ${Math.round(passed)} ms passed`);
  process.stdout.write(`500 events of a turn, worked: ${told.join(', ')}\n`);
  expect(Math.min(...rounds.map(({ worked }) => worked))).toBeLessThanOrEqual(200);
});
