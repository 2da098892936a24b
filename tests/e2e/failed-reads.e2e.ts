// A list that cannot be loaded: each view shows the error in its place and loads it when the person tries again.

import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violations } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Each place, an operation it reads, and what it shows once that succeeds, never before. */
const views: readonly (readonly [place: string, op: string, afterwards: string | RegExp])[] = [
  ['health/usage', 'usage.get', 'No model was called in this period.'],
  ['memory', 'memory.list', 'Nothing is remembered yet.'],
  ['artifacts', 'artifact.list', 'No artifacts yet.'],
  ['schedules', 'schedule.list', 'Nothing is scheduled.'],
  ['skills', 'skill.list', /^Folders|No skills yet/i],
  ['running/tasks', 'work.list', 'There are no tasks y'],
  ['running', 'running.list', 'Nothing is running.'],
  ['running/pipelines', 'pipeline.list', 'No pipeline has run yet.'],
  ['running/evals', 'eval.list', 'No cases have been run yet.'],
  ['agents', 'agent.list', "the conversation's model"],
  ['approvals', 'grant.list', 'No grants yet.'],
  ['approvals/policy', 'config.get', 'Kept in'],
  ['settings/file', 'config.get', 'config.yaml'],
  ['health', 'health.check', / checks passed$/],
  ['health', 'backup.list', 'No backups yet.'],
  ['health/unfinished', 'outbox.list', 'Every message was delivered.'],
  ['approvals', 'outcome.list', 'Nothing is waiting for you.'],
  ['agents', 'prompt.list', 'No prompt files yet.'],
  ['agents', 'helper.list', 'No subagent has been called.'],
  ['memory', 'knowledge.list', 'Add a folder of notes'],
  ['settings/mcp', 'mcp.list', 'No MCP server yet.'],
  ['settings/doors', 'door.list', 'closed'],
  ['settings/channels', 'channel.list', 'Telegram'],
  ['settings/secrets', 'secret.status', /^Kept in|has no keychain/],
];

/** Read when the window opens, and kept. */
const readAtStart = ['outbox.list', 'outcome.list'];

test('each view shows that it cannot be loaded, and retries by a key', async () => {
  const window = await openWindow(browser);
  for (const view of views) await expectRetry(window, ...view);
  expect(window.incidents).toEqual([]);
});

async function expectRetry({ page, host }: WindowUnderTest, place: string, op: string, afterwards: string | RegExp): Promise<void> {
  let isBroken = true;
  await page.route(`**/api/ops/${op}`, (route) =>
    isBroken
      ? route.fulfill({ status: 409, json: { error: { code: 'damaged', message: 'The list is damaged.', hint: 'Look at Health.' } } })
      : route.continue(),
  );
  await page.goto(`${host.origin}/#/chat`);
  await page.getByText('What can I do for you?').waitFor();
  await page.goto(`${host.origin}/#/${place}`);
  if (readAtStart.includes(op)) await page.reload();
  const main = page.getByRole('main');
  const said = main.getByRole('alert').filter({ hasText: 'The list is damaged.' });
  await said.getByText('Look at Health.').waitFor();
  expect({ place, said: await page.getByText('The list is damaged.').count() }).toEqual({ place, said: 1 });
  // Other lists of the same place may come later.
  await expect.poll(() => main.getByText('Loading…').count()).toBe(0);
  expect({ place, op, early: await main.getByText(afterwards).count() }).toEqual({ place, op, early: 0 });
  expect({ place, found: await violations(page) }).toEqual({ place, found: [] });
  if (op === 'knowledge.list') expect(await page.getByRole('region', { name: 'Documents' }).getByRole('alert').count()).toBe(1);
  isBroken = false;
  await main.getByRole('button', { name: 'Try again' }).press('Enter');
  await said.waitFor({ state: 'detached' });
  await main.getByText(afterwards).first().waitFor();
  expect({ place, focus: await page.evaluate('document.activeElement.localName') }).not.toEqual({ place, focus: 'body' });
  await page.unrouteAll({ behavior: 'wait' });
}

/** The server refuses this code until the returned function is called. */
async function withhold(page: Page, address: string): Promise<() => Promise<void>> {
  await page.route(address, (route) => route.fulfill({ status: 503 }));
  return () => page.unroute(address);
}

test('a part of the window whose code could not be loaded is loaded when the person tries again', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Here.' }] });
  const { page } = window;
  await window.send('Hello');
  await window.conversation.getByText('Here.', { exact: true }).waitFor();
  const failed = page.getByRole('alert').filter({ hasText: 'could not be loaded' });
  const tryAgain = failed.getByRole('button', { name: 'Try again' });
  const arrives = async (address: string, open: () => Promise<unknown>, part: Locator): Promise<void> => {
    const release = await withhold(page, address);
    await open();
    await tryAgain.waitFor();
    await release();
    await tryAgain.press('Enter');
    await part.waitFor();
    expect({ address, left: await failed.count() }).toEqual({ address, left: 0 });
    expect(await page.evaluate('document.activeElement.localName')).not.toBe('body');
  };
  await arrives('**/inspector-*.js', () => page.keyboard.press('Alt+Shift+I'), page.getByRole('complementary', { name: 'Inspector' }));
  await arrives('**/memory-view-*.js', () => window.go('Memory'), page.getByText('Nothing is remembered yet.'));
  await arrives('**/turns-*.js', () => page.goto('about:blank').then(() => window.openAddress()), window.conversation.getByText('Here.'));
});

test('lists that all fail for the same reason say it once, in the page', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const ops = ['session.list', 'approval.list', 'outcome.list', 'helper.list', 'tool.list', 'memory.list'];
  for (const op of ops) {
    await page.route(`**/api/ops/${op}`, (route) =>
      route.fulfill({ status: 409, json: { error: { code: 'damaged', message: 'The database is damaged.' } } }),
    );
  }
  await page.goto(`${window.host.origin}/#/memory`);
  const answers = ops.map((op) => page.waitForResponse(`**/api/ops/${op}`));
  await page.reload();
  await Promise.all(answers);
  await page.getByRole('main').getByRole('alert').filter({ hasText: 'The database is damaged.' }).waitFor();
  // Notices would be drawn by now.
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  expect(await page.getByText('The database is damaged.').count()).toBe(1);
});

test('an artifact says that it cannot be read, and tries again by a key', async () => {
  const window = await openWindow(browser, {
    ownProcess: true,
    replies: [{ calls: [{ tool: 'exec', args: { command: 'for i in $(seq 1 30000); do echo "line $i"; done' } }] }, { text: 'Printed.' }],
  });
  const { page } = window;
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  let isBroken = true;
  await page.route('**/api/ops/artifact.get', (route) =>
    isBroken ? route.fulfill({ status: 409, json: { error: { code: 'damaged', message: 'Its content is damaged.' } } }) : route.continue(),
  );
  await window.go('Artifacts');
  await page.getByRole('list', { name: 'Artifacts' }).getByRole('link').first().click();
  const said = page.getByRole('region', { name: 'Artifact' }).getByRole('alert').filter({ hasText: 'Its content is damaged.' });
  await said.waitFor();
  expect(await page.getByText('Its content is damaged.').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await page
    .getByText(/^line 1\n/)
    .first()
    .waitFor();
  expect(await page.evaluate('document.activeElement.localName')).not.toBe('body');
});

test('advice that names a command of the terminal has a link to the place in the window', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const error = { code: 'damaged', message: 'It is locked.', hint: 'Unlock it with: trayclaw secret unlock' };
  await page.route('**/api/ops/skill.reload', (route) => route.fulfill({ status: 409, json: { error } }));
  await window.go('Skills');
  await page.getByRole('button', { name: 'Reload' }).click();
  const notice = page.getByRole('alert').filter({ hasText: 'It is locked.' });
  await notice.getByRole('link', { name: 'Open Settings' }).waitFor();
  expect(await notice.innerText()).toMatch(/^It is locked\.\s+Unlock it\.\s+Open Settings$/);
  expect(await violations(page)).toEqual([]);
  await notice.getByRole('link', { name: 'Open Settings' }).press('Enter');
  await page.locator('[data-section="secrets"]').waitFor();
});

test('a part of a place that cannot be read says so, and never that there is nothing', async () => {
  const replies = [{ calls: [{ tool: 'write_file', args: { path: 'plan.md', content: '# Beans\n' } }] }, { text: 'Planned.' }];
  const config = { policy: { rules: [{ when: { tools: ['write_file'] }, then: 'allow' as const }] } };
  const window = await openWindow(browser, { replies, config });
  const { page, host } = window;
  await window.send('Plan it');
  await window.conversation.getByText('Planned.', { exact: true }).waitFor();
  const chat = page.url().split('#')[1] ?? '';
  const main = page.getByRole('main');
  const panel = page.getByRole('complementary', { name: 'Side panel' });
  const side = async (tab: string): Promise<void> => {
    await page.getByRole('button', { name: 'Side panel', exact: true }).click();
    await panel.getByRole('group', { name: 'Side panel' }).getByRole('button', { name: tab }).click();
  };
  const command = async (name: string): Promise<void> => {
    // The page has loaded before the window's code listens for keys.
    await page.getByRole('button', { name: 'Commands' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(name);
    await page.getByRole('option', { name }).first().click();
  };
  const parts: readonly (readonly [place: string, op: string, open: () => Promise<unknown>, afterwards: Locator])[] = [
    ['/agents', 'identity.get', () => main.getByText('Identity', { exact: true }).click(), main.getByText('No versions yet.')],
    ['/agents', 'rule.list', () => main.getByText('Pinned rules', { exact: true }).click(), main.getByText('No pinned rules.')],
    [chat, 'checkpoint.review', () => side('Files'), panel.getByRole('list', { name: 'Changed' })],
    [chat, 'artifact.list', () => side('Artifacts'), panel.getByText('Pictures, downloads')],
    [chat, 'task.list', () => side('Tasks'), panel.getByText('No open tasks.')],
    [chat, 'saved.list', () => command('Saved prompts'), page.getByText('Nothing is saved yet.')],
    [chat, 'checkpoint.review', () => command('Review the changes of this session'), page.getByText('Beans')],
    [chat.replace('/chat/', '/activity/'), 'session.get', () => Promise.resolve(), main.getByRole('heading', { name: 'Plan it' })],
  ];
  for (const [place, op, open, afterwards] of parts) {
    await page.goto('about:blank');
    await page.goto(`${host.origin}/#${place}`);
    let isBroken = true;
    await page.route(`**/api/ops/${op}`, (route) =>
      isBroken ? route.fulfill({ status: 409, json: { error: { code: 'damaged', message: 'It is damaged.' } } }) : route.continue(),
    );
    await open();
    await page.getByRole('alert').filter({ hasText: 'It is damaged.' }).waitFor();
    expect({ place, op, said: await page.getByText('It is damaged.').count() }).toEqual({ place, op, said: 1 });
    expect({ place, op, early: await afterwards.count() }).toEqual({ place, op, early: 0 });
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).press('Enter');
    await afterwards.first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
  }
});
