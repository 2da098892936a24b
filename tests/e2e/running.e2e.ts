// The view of running work: tasks as a board, pipelines as graphs, comparisons; and running turns of several sessions and a background
// command with its output, each opened or stopped there.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Browser } from 'playwright-core';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const patience = { timeout: 15_000, interval: 20 };

test('turns, calls and background commands are shown, opened and stopped', { timeout: 120_000 }, async () => {
  const serve = { tool: 'exec', args: { command: 'echo ready; sleep 120', background: true } };
  const wait = { tool: 'exec', args: { command: 'echo under way; sleep 120' } };
  const config = { policy: { rules: [{ when: { tools: ['exec'] }, then: 'allow' as const }] } };
  const window = await openWindow(browser, { replies: [{ calls: [serve] }, { text: 'It serves.' }, { calls: [wait] }], config });
  const { page, host } = window;
  await window.send('Start the server');
  await window.conversation.getByText('It serves.', { exact: true }).waitFor();
  await window.send('Now wait');
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Running');
  const now = page.getByRole('list', { name: 'Now' });
  await now.getByText(/^Running echo under way/).waitFor();
  const commands = page.getByRole('list', { name: 'Background commands' });
  await commands.getByText('ready', { exact: true }).waitFor();
  await looksGood(page, 'running');

  await commands.getByRole('button', { name: /^Stop echo ready/ }).press('Enter');
  await commands.waitFor({ state: 'detached' });
  expect(await host.op('running.stop', { commandId: 'cmd-0-0' })).toEqual({ stopped: false });
  await now.getByRole('link', { name: /^Open/ }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Running');
  await now.getByRole('button', { name: /^Stop/ }).click();
  await page.getByText('Nothing is running.').waitFor();
  await expect.poll(() => host.op('running.list', {}), patience).toEqual({ turns: [], commands: [] });
  expect(window.incidents).toEqual([]);
});

test('an unread session is listed with plain text, and its time is on one line', async () => {
  const window = await openWindow(browser, { historyTurns: 1, replies: [{ text: 'It is **bold** and [linked](https://example.org/).' }] });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  const { sessionId } = (await window.host.op('session.create', { title: 'Donaudampfschifffahrtsgesellschaftskapitän' })) as {
    readonly sessionId: string;
  };
  await window.host.op('message.send', { sessionId, text: 'Say it' });
  await window.page.getByRole('link', { name: /^unread: Donau/ }).waitFor();
  await window.go('Running');
  const row = window.page.getByRole('list', { name: 'While you were away' }).getByRole('link', { name: /^Donau/ });
  await row.getByText('It is bold and linked.', { exact: true }).waitFor();
  await window.page.setViewportSize({ width: 360, height: 740 });
  expect(await row.locator('.num').evaluate((time) => time.getClientRects().length)).toBe(1);
  expect(await row.locator('.num').innerText()).toMatch(/^\d\d:\d\d$/);
});

test('a task is created in the form, waits for a person and finishes on the board', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { replies: [{ text: 'A poem about rain.' }, { text: 'A longer poem about rain.' }] });
  const { page } = window;
  await page.goto(`${window.host.origin}/#/running/tasks`);
  await page.getByText('There are no tasks yet.').waitFor();
  await page.getByRole('button', { name: 'New task' }).click();
  const form = page.getByRole('form', { name: 'New task' });
  await form.getByLabel('What is wanted').fill('Write a poem about rain');
  await form.getByLabel('Criterion 1', { exact: true }).fill('rain');
  await form.getByRole('button', { name: 'Add a criterion' }).click();
  await form.getByLabel('Kind of criterion 2').selectOption('person');
  await form.getByLabel('Criterion 2', { exact: true }).fill('It is long enough');
  await looksGood(page, 'task-form');
  await form.getByRole('button', { name: 'Start' }).click();
  const waiting = page.getByRole('region', { name: 'Waits for you' });
  await waiting.getByRole('article', { name: 'Write a poem about rain' }).waitFor();
  await waiting.getByLabel('What is missing').fill('Longer.');
  await waiting.getByRole('button', { name: 'It is not met' }).click();
  await waiting.getByText('attempt 2').waitFor();
  await looksGood(page, 'task-board');
  expect(await page.getByRole('region', { name: 'Queued' }).count()).toBe(0);
  await waiting.getByRole('button', { name: 'It is met', exact: true }).click();
  const done = page.getByRole('region', { name: 'Done' }).getByRole('article', { name: 'Write a poem about rain' });
  await done.getByText('met:').first().waitFor({ state: 'attached' });
  expect(window.incidents).toEqual([]);
});

test('a pipeline is drawn with the state of each node, and two configurations are compared', { timeout: 180_000 }, async () => {
  const point = { met: true, quote: 'It is 42.', why: 'It says so.' };
  const judged = (count: number) => ({ text: JSON.stringify({ points: Array.from({ length: count }, () => point) }) });
  const window = await openWindow(browser, {
    replies: [
      { text: 'CALCULATE only' },
      { text: '40 + 2 = 42' },
      { text: 'It is 42.' },
      judged(2),
      { text: 'It is 42.' },
      judged(3),
      { text: 'It is 42.' },
      judged(3),
    ],
  });
  const { page, host } = window;
  await page.goto(`${host.origin}/#/running/pipelines`);
  await page.getByLabel('What it works on').fill('How much is 40 and 2?');
  await page.getByRole('button', { name: 'Start' }).click();
  const run = page.getByRole('region', { name: /^research/ });
  const nodes = run.getByRole('list', { name: 'Nodes' });
  await nodes.getByRole('listitem').filter({ hasText: 'research' }).getByText('left out').waitFor();
  await nodes.getByRole('listitem').filter({ hasText: 'review' }).getByText('done').waitFor();
  await run.getByRole('img').waitFor();
  await looksGood(page, 'pipeline', () => run.locator('iframe').waitFor());
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await page.getByLabel('Task').fill('How much is 40 and 2?');
  await page.getByLabel('Configurations').fill('agent:main,');
  await page.getByRole('button', { name: 'lab/scripted', exact: true }).click();
  expect(await page.getByLabel('Configurations').inputValue()).toBe('agent:main, lab/scripted');
  await page.getByRole('button', { name: 'Compare' }).click();
  const table = page.getByRole('group', { name: 'Comparison' });
  await table.waitFor();
  expect(await table.getByRole('row').count()).toBe(3);
  await looksGood(page, 'compare');
  expect(window.incidents).toEqual([]);
});

test('plan-first is announced, the card shows the plan, and approval starts the turn', { timeout: 120_000 }, async () => {
  const propose = { tool: 'plan', args: { action: 'propose', steps: ['Read notes.md', 'Write report.md'] } };
  const write = { tool: 'write_file', args: { path: 'report.md', content: 'x' } };
  const config = { policy: { rules: [{ when: { tools: ['write_file'] }, then: 'allow' as const }] } };
  const replies = [{ calls: [write] }, { calls: [propose] }, { calls: [write] }, { text: 'It is written.' }];
  const window = await openWindow(browser, { replies, config });
  const { page, host } = window;
  await window.send('/plan');
  const note = page.getByText('Plan first: only reads run until you approve a plan.');
  await note.waitFor();
  await page.getByRole('button', { name: 'Step by step' }).click();
  await page.getByText('Plan first: only reads run until you approve the plan, and then each of its steps.').waitFor();
  await page.getByRole('button', { name: 'Step by step' }).click();
  await note.waitFor();
  await window.send('Write a report');
  await window.approval.getByRole('heading', { name: 'Wants to carry out this plan', exact: true }).waitFor();
  expect(await window.approval.getByRole('listitem').allInnerTexts()).toEqual(['Read notes.md', 'Write report.md']);
  // Argument names mean nothing to a person, and the command's result has disappeared.
  expect(await window.approval.getByText('propose', { exact: true }).filter({ visible: true }).count()).toBe(0);
  expect(await page.getByText('Only reads run until you approve a plan, from the next message on.').count()).toBe(0);
  expect(await host.readFile('report.md')).toBeNull();
  await looksGood(page, 'plan-first');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('It is written.', { exact: true }).waitFor();
  await note.waitFor({ state: 'detached' });
  expect(await host.readFile('report.md')).toBe('x');
  expect(window.incidents).toEqual([]);
});

test('cases run, stop, and show failures and changes', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, {
    files: {
      'cases.yaml':
        'tests:\n  - { input: Capital?, assert: [{ type: contains, value: Paris }] }\n  - { input: Sum?, assert: [{ type: contains, value: "42" }] }\n',
    },
    replies: [{ text: 'Paris.' }, { text: '42' }, { text: 'Rome.' }, { text: '42' }],
  });
  const { page, host } = window;
  await page.goto(`${host.origin}/#/running/evals`);
  await page.getByText('No cases have been run yet.').waitFor();
  const { configured } = (await host.op('workspace.list', {})) as { configured: string };
  const path = `${configured}/cases.yaml`;
  const form = page.getByRole('form', { name: 'Run cases' });
  await form.getByLabel('Cases').selectOption('A file or folder of mine');
  await form.getByRole('textbox', { name: 'File or folder' }).fill(path);
  await form.getByRole('button', { name: 'Run cases' }).click();
  const cards = page.getByRole('article', { name: `Run of ${path}` });
  await cards.getByText('2 of 2').waitFor();
  await host.op('eval.run', { path, cache: false });
  await expect.poll(() => cards.count()).toBe(2);
  await cards.first().getByText('1 failed').waitFor();
  await cards.first().getByText('What did not pass').click();
  await cards.first().getByText('Worse: Capital?').waitFor();
  await cards.first().getByText('Failed Capital?').waitFor();
  await looksGood(page, 'evals');
  expect(window.incidents).toEqual([]);
});
