// Agents in the settings, with their limits; missing limits are reported as missing.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const config = {
  agents: {
    scout: {
      name: 'Scout',
      description: 'Looks things up and writes nothing.',
      capabilities: ['reading', 'searching'],
      tools: ['read_file', 'web_search'],
      identity: 'You look, you never touch.',
      bounds: { steps: 6, usd: 0.25, hosts: ['example.org'], depth: 0 },
      helpers: [],
      routes: [{ channel: 'telegram', chatId: '4711' }],
    },
  },
};

test('each agent shows its tools, its subagents, and its identity on request', { timeout: 120_000 }, async () => {
  const window = await openSession(browser, { config });
  const { page } = window;
  await window.go('Agents');
  const list = page.getByRole('list', { name: 'Agents' });
  const scout = list.getByRole('region', { name: 'Scout' });
  await scout.getByText('Looks things up and writes nothing.').waitFor();
  const facts = await scout.getByRole('definition').allInnerTexts();
  expect(facts).toEqual([
    "The conversation's model",
    'read_file, web_search',
    'Telegram, chat 4711',
    'connects only to example.org; 6 model calls per turn; $0.25 per turn; no subagents',
  ]);
  const main = list.getByRole('region', { name: 'main' });
  expect((await main.getByRole('definition').allInnerTexts())[1]).toBe('All');
  await scout.getByText('Identity').press('Enter');
  await scout.getByRole('group', { name: 'Identity of Scout' }).getByText('You look, you never touch.').waitFor();
  await looksGood(page, 'agents');
  await page.getByRole('link', { name: 'Agent settings' }).click();
  await page.getByRole('heading', { name: 'Agents' }).first().waitFor();
  expect(window.incidents).toEqual([]);
});

test('agents are reached by a key and by the palette', async () => {
  const window = await openSession(browser, { config });
  const { page } = window;
  await window.message.waitFor();
  await page.keyboard.press('Alt+Shift+7');
  const scout = page.getByRole('list', { name: 'Agents' }).getByRole('region', { name: 'Scout' });
  await scout.getByText("the conversation's model").waitFor();
  await page.keyboard.press('Alt+Shift+1');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('go to agents');
  await page.keyboard.press('Enter');
  await scout.getByText("the conversation's model").waitFor();
  expect(window.incidents).toEqual([]);
});

test('a subagent is below its caller, shows its end, and links to its conversation', { timeout: 120_000 }, async () => {
  const asks = { calls: [{ tool: 'subagent', args: { task: 'Look into the notes', label: 'look', agent_id: 'scout' } }] };
  const window = await openSession(browser, { config, replies: [asks, { text: 'Milk is due.' }, { text: 'The helper says: milk.' }] });
  const { page, host } = window;
  await window.message.waitFor();
  await window.send('What is due?');
  await window.conversation.getByText('The helper says: milk.').waitFor();
  await window.conversation.getByRole('button', { name: /^Asked a subagent: look/ }).click();
  await window.conversation.getByRole('link', { name: 'Open the conversation of the subagent' }).click();
  await window.conversation.getByText('Milk is due.').waitFor();
  await window.go('Agents');
  const helpers = page.getByRole('list', { name: 'Subagents' });
  await helpers.getByText('done', { exact: true }).waitFor();
  await helpers.getByRole('link', { name: 'Conversation of the subagent: look' }).waitFor();
  const told = (await host.op('helper.list', { all: true })) as { helpers: { label: string; status: string }[] };
  expect(told.helpers.map(({ label, status }) => [label, status])).toEqual([['look', 'done']]);
  await looksGood(page, 'helpers');
  expect(window.incidents).toEqual([]);
});

test('nested subagents are below their callers, and a stop ends a whole subtree', { timeout: 120_000 }, async () => {
  const call = (label: string, agent_id: string) => ({ calls: [{ tool: 'subagent', args: { task: `Do ${label}`, label, agent_id } }] });
  const window = await openWindow(browser, {
    config: { agents: { editor: { helpers: ['scout'] }, scout: { tools: ['read_file'], helpers: [] } } },
    // The innermost subagent never finishes.
    replies: [call('outer', 'editor'), call('inner', 'scout'), { text: 'never said', firstDelayMs: 600_000 }, { text: 'It was stopped.' }],
  });
  const { page, host } = window;
  await window.message.waitFor();
  await window.send('Begin.');
  await window.go('Agents');
  const helpers = page.getByRole('list', { name: 'Subagents' });
  const below = helpers.getByRole('list', { name: 'Called by the subagent: outer' });
  await below.getByText('inner', { exact: true }).waitFor();
  expect(await helpers.getByText('running', { exact: true }).count()).toBe(2);
  expect(await below.getByText('outer', { exact: true }).count()).toBe(0);
  await looksGood(page, 'helpers-nested');
  await below.getByRole('button', { name: 'Stop the subagent: inner' }).waitFor();
  await helpers.getByRole('button', { name: 'Stop the subagent: outer' }).click();
  await expect.poll(() => helpers.getByText('stopped', { exact: true }).count()).toBe(2);
  expect(await helpers.getByRole('button', { name: /^Stop the subagent/ }).count()).toBe(0);
  const { helpers: told } = (await host.op('helper.list', { all: true })) as { helpers: { label: string; status: string }[] };
  expect(told.map(({ label, status }) => `${label} ${status}`).toSorted()).toEqual(['inner cancelled', 'outer cancelled']);
  await window.go('Chat');
  await window.conversation.getByText('It was stopped.').waitFor();
  expect(window.incidents).toEqual([]);
});
