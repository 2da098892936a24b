// Artifacts: filtered by session and kind, shown as text, code or image without running anything, saved whole, linked to their turn.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { looksGood, shoot, violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** A single red pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const code = 'export const answer: number = 42;\n'.repeat(30);

async function sendFiles(window: WindowUnderTest): Promise<string> {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const sent = await window.host.op('message.send', {
    text: 'Look at these',
    attachments: [
      { name: 'point.png', mediaType: 'image/png', base64: png },
      { name: 'answer.ts', mediaType: 'text/plain', base64: base64(code) },
      { name: 'page.svg', mediaType: 'image/svg+xml', base64: base64('<svg onload="alert(1)"><script>alert(2)</script></svg>') },
      { name: 'plan.md', mediaType: 'text/markdown', base64: base64('# The plan\n\n- one\n- two\n\n<script>alert(3)</script>\n') },
      { name: 'costs.csv', mediaType: 'text/csv', base64: base64('item,amount\n"Rent, flat",1200\n') },
      { name: 'notes.txt', mediaType: 'text/plain', base64: base64('Plain words.\n') },
    ],
  });
  return (sent as { sessionId: string }).sessionId;
}

test('each kind is shown, filtered and saved, and nothing in it runs', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Seen.' }] });
  const { page } = window;
  const sessionId = await sendFiles(window);
  await window.go('Artifacts');
  const list = page.getByRole('list', { name: 'Artifacts' });
  await expect.poll(() => list.getByRole('link').count()).toBe(6);
  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Picture' });
  await list.getByRole('link', { name: /point\.png/ }).click();
  const picture = page.getByRole('img', { name: 'The picture point.png' });
  await picture.waitFor();
  expect(await picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth)).toBe(1);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
  expect(download.suggestedFilename()).toBe('point.png');
  expect((await readFile(await download.path())).toString('base64')).toBe(png);

  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Code' });
  await page.getByText('2 artifacts').waitFor();
  await list.getByRole('link', { name: /answer\.ts/ }).click();
  const shown = page.getByRole('group', { name: 'Code' });
  await shown.waitFor();
  expect(await shown.innerText()).toContain('export const answer: number = 42;');
  await page.getByRole('button', { name: 'As code' }).click();
  await page.getByRole('group', { name: 'Artifact text' }).waitFor();
  await list.getByRole('link', { name: /page\.svg/ }).click();
  await page.getByRole('img', { name: 'The picture page.svg' }).waitFor();
  await page.getByRole('button', { name: 'Source' }).click();
  await page.getByText('<script>alert(2)</script>').first().waitFor();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Text' });
  await list.getByRole('link', { name: /plan\.md/ }).click();
  await page.getByRole('heading', { name: 'The plan' }).waitFor();
  await shoot(page, 'artifact-document');
  await list.getByRole('link', { name: /costs\.csv/ }).click();
  await page.getByRole('cell', { name: 'Rent, flat' }).waitFor();
  await shoot(page, 'artifact-table');

  await page.getByRole('combobox', { name: 'Session' }).selectOption(sessionId);
  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'Other' });
  await page.getByText('Nothing of this kind here.').waitFor();
  await page.getByRole('combobox', { name: 'Kind' }).selectOption({ label: 'All kinds' });
  await page.getByText('6 artifacts').waitFor();
  expect(await violations(page)).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('a long output is saved whole and links to the turn whose call produced it', async () => {
  const command = 'for i in $(seq 1 90000); do echo "line $i"; done';
  const window = await openSession(browser, { replies: [{ calls: [{ tool: 'exec', args: { command } }] }, { text: 'Printed.' }] });
  const { page } = window;
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.go('Artifacts');
  await page.getByRole('list', { name: 'Artifacts' }).getByRole('link').first().click();
  await page.getByRole('button', { name: /^Show more \(.+ left\)$/ }).waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save' }).click()]);
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
  expect([lines[0], lines.at(-1)]).toEqual(['line 1', 'line 90000']);
  await page.getByRole('link', { name: 'Show the turn' }).click();
  await expect.poll(() => page.url()).toMatch(/#\/activity\/ses_[^/]+\/trn_/);
  await page.getByRole('heading', { name: 'Activity', level: 1 }).waitFor();
});

test('an empty view says what it will contain', async () => {
  const window = await openWindow(browser);
  await window.go('Artifacts');
  await window.page.getByText('No artifacts yet.').waitFor();
  await window.page.getByRole('link', { name: 'Ask for something that creates a file' }).click();
  await window.message.waitFor();
});

test('the budget ring opens the budget of the session and the day', async () => {
  const window = await openSession(browser, { replies: [{ text: 'One.' }] });
  const { page } = window;
  await window.send('A question');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  const status = page.getByRole('status', { name: 'Model and budget' });
  await status.getByText(/^\$0\.0\d+ of \$10\.00 today$/).waitFor();
  await page.getByRole('button', { name: 'Budget details' }).click();
  const details = page.getByRole('group', { name: 'Budget details' });
  await details.getByText(/^\$0\.0\d+ of \$10\.00$/).waitFor();
  expect(await details.getByRole('meter', { name: 'Today' }).count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await details.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('table', { name: 'Per model' }).waitFor();
  expect(window.incidents).toEqual([]);
});

/** A one-page file whose own actions would run a script, open an address and send a form. */
function hostilePdf(origin: string): Buffer {
  const js = `app.launchURL("${origin}/js"); this.submitForm("${origin}/form");`;
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (${js.replaceAll(/[()]/g, String.raw`\$&`)}) >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R /Annots [6 0 R] /Resources << /Font << /F 5 0 R >> >> >>',
    '<< /Length 37 >>\nstream\nBT /F 18 Tf 20 50 Td (Hostile) Tj ET  \nendstream',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Annot /Subtype /Link /Rect [0 0 200 100] /A << /S /URI /URI (${origin}/link) >> >>`,
  ];
  let text = '%PDF-1.7\n';
  const places = objects.map((body, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return `${String(at).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  return Buffer.from(`${text}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`, 'latin1');
}

test('a PDF is shown by page, its scripts and links do nothing, a broken one says so', async () => {
  const seen: string[] = [];
  const canary = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => void canary.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => void canary.close(() => resolve())));
  const origin = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  const window = await openWindow(browser, { replies: [{ text: 'Seen.' }] });
  const { page } = window;
  const paper = await browser.newPage();
  await paper.setContent('<h1>Rent</h1><p style="break-after: page">Due in May</p><p>Signed</p>');
  const files = { 'lease.pdf': await paper.pdf(), 'hostile.pdf': hostilePdf(origin), 'broken.pdf': Buffer.from('%PDF-1.7\nnothing') };
  await paper.close();
  const attachments = Object.entries(files).map(([name, bytes]) => ({
    name,
    mediaType: 'application/pdf',
    base64: bytes.toString('base64'),
  }));
  await window.host.op('message.send', { text: 'Look at these', attachments });
  await window.go('Artifacts');
  const list = page.getByRole('list', { name: 'Artifacts' });
  await list.getByRole('link', { name: /lease\.pdf/ }).click();
  await page.getByText('2 pages. Scripts and links of the file are off.').waitFor();
  const lease = page.frameLocator('iframe[title="The page lease.pdf"]');
  await lease.getByText('Due in May').waitFor();
  const drawn = `(() => {
    const canvas = document.querySelector('canvas');
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value, at) => at % 4 < 3 && value < 100);
  })()`;
  const frameNow = () => page.frames().find((frame) => frame.url().endsWith('/pdf.html'));
  expect(await frameNow()?.evaluate(drawn)).toBe(true);
  // Sharp at every width: the canvas has one pixel for each pixel of its place.
  const pixels = "document.querySelector('canvas').width / document.querySelector('section').clientWidth";
  await looksGood(page, 'artifact-pdf', () => expect.poll(() => frameNow()?.evaluate(pixels)).toBeCloseTo(1, 1));

  await list.getByRole('link', { name: /hostile\.pdf/ }).click();
  const hostile = page.frameLocator('iframe[title="The page hostile.pdf"]');
  await hostile.getByText('Hostile').waitFor();
  await hostile.locator('canvas').click();
  expect(await hostile.locator('a, form, input').count()).toBe(0);
  expect(await frameNow()?.evaluate('globalThis.origin')).toBe('null');

  await list.getByRole('link', { name: /broken\.pdf/ }).click();
  await page.getByText('This PDF cannot be read. Save it and try another program.').waitFor();
  expect(seen).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('a kept output is named after what it is, with its session', async () => {
  const calls = [{ tool: 'exec', args: { command: 'for i in $(seq 1 30000); do echo "line $i"; done' } }];
  const window = await openWindow(browser, { replies: [{ calls }, { text: 'Printed.' }] });
  const { page } = window;
  await window.send('Print a lot');
  await window.approval.getByRole('button', { name: 'Approve once' }).click();
  await window.conversation.getByText('Printed.', { exact: true }).waitFor();
  await window.go('Artifacts');
  const row = page.getByRole('list', { name: 'Artifacts' }).getByRole('link').first();
  expect(await row.innerText()).toMatch(/^Output of a command\s+Print a lot/);
  await row.click();
  await page.getByRole('heading', { name: 'Output of a command' }).waitFor();
});
