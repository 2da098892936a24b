// The chat as a person uses it: ask, watch, steer, stop, approve, deny, return after an interruption.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const write = { tool: 'write_file', args: { path: 'hello.md', content: 'Hello from TrayClaw.\n' } };

test('a first message starts a session, and its answer is rendered as a document', async () => {
  const window = await openSession(browser, {
    replies: [{ text: 'It is **409.5**.\n\n```js\n2340 * 0.175\n```\n\n| sum |\n|---:|\n| 409.5 |\n\n3. third' }],
  });
  await window.send('What is 17.5 % of 2340?');
  await window.conversation.getByText('It is 409.5.').waitFor();
  expect(await window.conversation.locator('strong', { hasText: '409.5' }).count()).toBe(1);
  expect(await window.page.getByRole('button', { name: 'Copy code' }).count()).toBe(1);
  expect(await window.conversation.locator('td').getAttribute('align')).toBe('right');
  expect(await window.conversation.locator('ol').getAttribute('start')).toBe('3');
  expect(await window.page.getByRole('list', { name: 'Sessions' }).getByRole('listitem').count()).toBe(1);
  expect(await window.message.inputValue()).toBe('');
  expect(window.page.url()).not.toContain(window.host.token);
  expect(window.incidents).toEqual([]);
});

test('calls are lines that open to arguments, result, and the decision with its rule', async () => {
  const window = await openSession(browser, {
    replies: [{ calls: [{ tool: 'read_file', args: { path: 'notes.md' } }] }, { text: 'Milk.' }],
  });
  await window.send('What is in my notes?');
  await window.conversation.getByText('Milk.', { exact: true }).waitFor();
  const line = window.page.getByRole('button', { name: /^Read notes\.md/ });
  expect(await line.getAttribute('aria-expanded')).toBe('false');
  await line.click();
  await window.page.getByText('It only reads inside the workspace.').waitFor();
  expect(await window.page.getByText('read.workspace').count()).toBe(1);
  expect(await window.page.getByRole('group', { name: 'Result' }).innerText()).toBe('# Notes\n\nBuy milk.\n');
  expect(await window.page.getByRole('img', { name: /Phases passed: Reading the message, Thinking/ }).count()).toBe(1);
});

test('a write waits for approval, then writes exactly what was shown', async () => {
  const window = await openSession(browser, { replies: [{ calls: [write] }, { text: 'Written.' }] });
  await window.send('Write hello.md');
  await window.approval.getByRole('button', { name: 'Allow more…' }).click();
  const names = ['Approve once', 'Deny', 'Approve for 15 minutes', 'Approve for this session', 'Approve until revoked'];
  const found = await Promise.all(names.map((name) => window.approval.getByRole('button', { name, exact: true }).count()));
  expect(found).toEqual(names.map(() => 1));
  expect(await window.host.readFile('hello.md')).toBe(null);
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Written.', { exact: true }).waitFor();
  expect(await window.host.readFile('hello.md')).toBe('Hello from TrayClaw.\n');
  expect(await window.approval.count()).toBe(0);
});

test('Enter never approves: focus stays in the message field; denial writes nothing', async () => {
  const other = { tool: 'write_file', args: { path: 'other.md', content: 'Hello from TrayClaw.\n' } };
  const window = await openSession(browser, { replies: [{ calls: [other] }, { text: 'Left alone.' }] });
  await window.send('Write other.md');
  await window.approval.waitFor();
  for (let press = 0; press < 5; press++) await window.page.keyboard.press('Enter');
  expect(await window.message.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  expect(await window.approval.count()).toBe(1);
  expect(await window.host.readFile('other.md')).toBe(null);
  await window.approval.getByRole('button', { name: 'Deny' }).click();
  await window.conversation.getByText('Left alone.', { exact: true }).waitFor();
  expect(await window.host.readFile('other.md')).toBe(null);
});

test('hidden and look-alike characters in an approval are spelled out', async () => {
  const command = 'echo \u202etxt.exe\u202c p\u0430ypal\u200b';
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'exec', args: { command } }] }] });
  await window.send('Run it');
  const shown = await window.approval.getByRole('group', { name: 'Command' }).innerText();
  expect(shown).toBe('echo ‹U+202E›txt.exe‹U+202C› pа‹U+0430›ypal‹U+200B›');
  expect(await window.approval.innerText()).not.toContain('\u202e');
});

test('marks piled on a letter are spelled out in an approval, and those before it are painted below it', async () => {
  const pile = `g${'\u0329\u0347\u0330\u0323'.repeat(60)}`;
  const window = await openSession(browser, { replies: [{ text: pile, calls: [{ tool: 'exec', args: { command: pile.slice(0, 7) } }] }] });
  await window.send('Run it');
  expect(await window.approval.getByRole('group', { name: 'Command' }).innerText()).toBe(`${pile.slice(0, 5)}‹U+0329›‹U+0347›`);
  // Marks paint far outside of their line. Only what is positioned is painted after the text of the whole conversation.
  const position = await window.approval.evaluate((card) => card.ownerDocument.defaultView?.getComputedStyle(card).position);
  expect(position).toBe('relative');
});

test('an approval given elsewhere updates the card in the chat', async () => {
  const window = await openWindow(browser, { replies: [{ calls: [write] }, { text: 'Written.' }] });
  await window.send('Write hello.md');
  await window.approval.waitFor();
  await window.go('Approvals');
  await window.approval.getByRole('button', { name: 'Allow more…' }).click();
  await window.approval.getByRole('button', { name: 'Approve for this session' }).click();
  await window.page.getByRole('list', { name: 'Grants' }).getByText('write_file for files under the workspace').waitFor();
  await window.page.getByRole('button', { name: 'Revoke: write_file for files under the workspace' }).click();
  await window.page.getByText('No grants yet.').waitFor();
  expect(await window.page.getByRole('list', { name: 'History' }).getByRole('listitem').count()).toBe(1);
});

test('a running turn is steered by a message and ended by Stop turn', async () => {
  const window = await openSession(browser, { replies: [{ text: 'word '.repeat(400), pieceChars: 12, delayMs: 60 }] });
  await window.send('Talk for a while');
  await window.conversation.getByText('word word').waitFor();
  await window.send('Shorter, please');
  await window.conversation.getByText('You added: Shorter, please').waitFor();
  await window.page.getByRole('button', { name: 'Stop turn' }).click();
  await window.conversation.getByText('Stopped. What was done so far is kept.').waitFor();
  expect(await window.page.getByRole('button', { name: 'Stop turn' }).count()).toBe(0);
  // The button is gone, and the focus is where the person continues.
  expect(await window.page.evaluate("document.activeElement?.getAttribute('aria-label')")).toBe('Message');
  // Said once, and not as a failure.
  await window.details.click();
  expect(await window.conversation.getByText(/^Stopped/).count()).toBe(1);
  expect(await window.conversation.getByText('The model call was stopped.').count()).toBe(0);
});

test('panic stop ends everything from any view, gives figures, and needs a release', async () => {
  const command = 'echo under way; sleep 60';
  const window = await openWindow(browser, { replies: [{ calls: [{ tool: 'exec', args: { command } }] }] });
  await window.send('Wait a minute');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('under way', { exact: true }).waitFor();
  await window.go('Health');
  await window.page.getByRole('button', { name: 'Panic stop', exact: true }).click();
  await window.page
    .getByText(/Everything is stopped\. \d+ process(?:es)? ended in \d+\sms\. Nothing runs until you release it\./)
    .waitFor();
  await window.go('Chat');
  await window.send('Go on');
  await window.page.getByRole('region', { name: 'Notices' }).getByRole('alert').getByText('Everything is stopped').waitFor();
  expect(await window.message.inputValue()).toBe('Go on');
  await window.page.getByRole('button', { name: 'Release panic stop' }).click();
  await window.page.getByRole('button', { name: 'Panic stop', exact: true }).waitFor();
});

test('a failed turn says what happened and what to do', async () => {
  const window = await openSession(browser, { replies: [{ refuse: 'overloaded' }, { text: 'Back again.' }] });
  await window.send('Hello');
  const alert = window.page.getByRole('alert');
  await alert.getByText(/^lab cannot answer at the moment\./).waitFor();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await window.conversation.getByText('Back again.', { exact: true }).waitFor();
});

test('a turn that exceeded the budget gets more in its card and continues', async () => {
  const usage = { input: 1_000, output: 1_250_000 };
  const window = await openWindow(browser, {
    replies: [{ calls: [{ tool: 'read_file', args: { path: 'notes.md' } }], usage }, { text: 'Milk it is.' }],
  });
  await window.send('What is in my notes?');
  const alert = window.page.getByRole('alert');
  await alert.getByText('The budget of this day is used up: $10.00 of $10.00.').waitFor();
  // The buttons replace the instructions, and a second try would fail in the same way.
  expect(await alert.innerText()).not.toMatch(/trayclaw budget|config\.yaml/);
  expect(await alert.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  await alert.getByRole('button', { name: 'Allow $1.00 more for today and continue' }).click();
  await window.conversation.getByText('Milk it is.', { exact: true }).waitFor();
  expect(await window.host.op('budget.get', {})).toMatchObject({ budgets: [{ scope: 'day', unit: 'usd', configured: 10 }, {}] });
  expect(await window.page.getByRole('button', { name: /more for today/ }).count()).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('an earlier failure keeps its first line and gives no outdated advice', async () => {
  const window = await openSession(browser, { replies: [{ refuse: 'unauthorized' }, { text: 'Two.' }] });
  await window.send('First');
  const advice = window.conversation.getByText(/^It needs a key/);
  await advice.waitFor();
  await window.send('Second');
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
  await window.conversation.getByText('lab did not accept the key.').waitFor();
  expect(await advice.count()).toBe(0);
});

test('a draft survives while the host is away; its new address is enough to continue', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }, { text: 'Two.' }] });
  await window.send('First');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await window.host.stop();
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  await window.send('Second');
  await window.page
    .getByRole('alert')
    .getByText(/TrayClaw is not responding/)
    .waitFor();
  expect(await window.message.inputValue()).toBe('Second');
  await window.host.start({ later: true });
  // The token of this tab is invalid by now.
  await window.page.getByText(/Open the address that TrayClaw prints/).waitFor({ timeout: 15_000 });
  await window.openAddress();
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  await expect.poll(() => window.message.inputValue()).toBe('Second');
  await window.message.press('Enter');
  await window.conversation.getByText('Two.', { exact: true }).waitFor();
  expect(window.page.url()).not.toContain(window.host.token);
  expect(window.incidents).toEqual([]);
});

test('each example task of the first start does real work with the offline demo', async () => {
  const window = await openWindow(browser, { usesDemo: true });
  const start = async (task: RegExp): Promise<void> => {
    await window.page.getByRole('button', { name: 'New session', exact: true }).click();
    await window.page.getByRole('list', { name: 'Example tasks' }).getByRole('button', { name: task }).click();
  };
  await window.page.getByText('Offline demo.').waitFor();
  await start(/Sum up orders/);
  await window.conversation
    .getByText(/Tanaka,oak table/)
    .first()
    .waitFor();
  await start(/Find something/);
  await window.conversation
    .getByText(/must be delivered before the move/)
    .first()
    .waitFor();
  await start(/Make a to-do list/);
  await window.approval.waitFor();
  expect(await window.host.readFile('example/meeting.md')).toContain('The lease starts');
  expect(await window.host.readFile('example/todo.md')).toBe(null);
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText(/Done\. I listed/).waitFor();
  expect(await window.host.readFile('example/todo.md')).toContain('orders.csv');
  expect(window.incidents).toEqual([]);
});

test('the page asks for a missing token and rejects a wrong one', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  const field = window.page.getByRole('textbox', { name: 'Access token' });
  await field.fill('wrong');
  await window.page.getByRole('button', { name: 'Connect' }).click();
  await window.page.getByRole('alert').getByText('This token was not accepted.').waitFor();
  await field.fill(window.host.token);
  await window.page.getByRole('button', { name: 'Connect' }).click();
  await window.message.waitFor();
});

test('a late answer to the wrong token leaves the connection with the right one alone', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  const { page, host } = window;
  const connected = Promise.withResolvers<void>();
  const late: Promise<unknown>[] = [];
  await page.route('**/api/ops/**', async (route) => {
    if (route.request().headers()['authorization'] !== 'Bearer wrong') return route.continue();
    late.push(connected.promise.then(() => route.continue()));
  });
  const field = page.getByRole('textbox', { name: 'Access token' });
  const connect = page.getByRole('button', { name: 'Connect' });
  await field.fill('wrong');
  await connect.click();
  await page.getByRole('alert').getByText('This token was not accepted.').waitFor();
  expect(late.length).toBeGreaterThan(0);
  await field.fill(host.token);
  await connect.click();
  await window.message.waitFor();
  const refused = page.waitForResponse((response) => response.status() === 401 && response.url().includes('/api/ops/'));
  connected.resolve();
  await refused;
  await Promise.all(late);
  await window.send('Hello');
  await window.conversation.getByText('Hello').first().waitFor();
  expect(await field.count()).toBe(0);
});
