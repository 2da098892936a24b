// The composer: attached files, drafts, history, the model of a session, steering.

import { deflateSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';
import { earlierSessionId } from './host/earlier-turns.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** A valid square PNG of one colour with the given side in pixels. */
function png(side: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(side * 3, 0x77)]);
  const rows = Buffer.concat(Array.from({ length: side }, () => row));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

function crc32(bytes: Buffer): number {
  let sum = 0xff_ff_ff_ff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xed_b8_83_20 : sum >>> 1;
  }
  return (sum ^ 0xff_ff_ff_ff) >>> 0;
}

const notes = { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('Eggs and flour.\n') };
const picture = { name: 'photo.png', mimeType: 'image/png', buffer: png(40) };

const chosen = ({ page }: WindowUnderTest) => page.locator('input[type=file]');
const attached = ({ page }: WindowUnderTest) => page.getByRole('list', { name: 'Attached files' }).getByRole('listitem');
const sent = ({ conversation }: WindowUnderTest) => conversation.getByRole('list', { name: 'Files of this message' }).getByRole('listitem');

/** Drops or pastes a text file onto the composer. This is source text, because this file is checked without browser types. */
const bringFile = (kind: 'drop' | 'paste', name: string): string => `(() => {
  const data = new DataTransfer();
  data.items.add(new File(['Dropped words.'], ${JSON.stringify(name)}, { type: 'text/plain' }));
  const box = document.querySelector('textarea');
  if (${JSON.stringify(kind)} === 'paste') box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
  else for (const type of ['dragover', 'drop']) box.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
})()`;

test('files are chosen, dropped, pasted, removed, sent, and shown on the message', async () => {
  const window = await openSession(browser, { replies: [{ text: 'I see.' }] });
  await window.message.waitFor();
  await chosen(window).setInputFiles([notes, picture]);
  await expect.poll(() => attached(window).allInnerTexts()).toEqual(['list.txt\n16\u{a0}B', `photo.png\n${picture.buffer.length}\u{a0}B`]);
  expect(await attached(window).locator('img').count()).toBe(1);
  await window.page.evaluate(bringFile('drop', 'dropped.txt'));
  await expect.poll(() => attached(window).count()).toBe(3);
  await window.page.evaluate(bringFile('paste', 'pasted.txt'));
  await expect.poll(() => attached(window).count()).toBe(4);
  await window.page.getByRole('button', { name: 'Remove dropped.txt' }).click();
  await window.page.getByRole('button', { name: 'Remove pasted.txt' }).press('Enter');
  await expect.poll(() => attached(window).count()).toBe(2);
  // Files need no text, here as at every other door.
  expect(await window.page.getByRole('button', { name: 'Send' }).isEnabled()).toBe(true);
  await window.send('What is in these?');
  await window.conversation.getByText('I see.', { exact: true }).waitFor();
  expect(await attached(window).count()).toBe(0);
  expect(await sent(window).allInnerTexts()).toEqual(['list.txt\n16\u{a0}B', `photo.png\n${picture.buffer.length}\u{a0}B`]);
  await sent(window).locator('img').waitFor();
  // Read from the log, after the page is reloaded.
  await window.page.reload();
  await sent(window).locator('img').waitFor();
  // The image opens in a dialog, and closing it returns the focus to the small image.
  const small = sent(window).getByRole('button', { name: /photo\.png/ });
  await small.press('Enter');
  const large = window.page.getByRole('dialog', { name: 'photo.png' });
  await expect
    .poll(() => large.getByRole('img', { name: 'photo.png' }).evaluate((image: { naturalWidth: number }) => image.naturalWidth))
    .toBe(40);
  await looksGood(window.page, 'large-picture');
  await window.page.keyboard.press('Escape');
  await large.waitFor({ state: 'detached' });
  expect(await small.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(true);
  await sent(window)
    .getByRole('link', { name: /list\.txt/ })
    .click();
  await window.page.getByText('Eggs and flour.').waitFor();
  await window.page.goBack();
  await chosen(window).setInputFiles([notes]);
  await window.page.getByRole('button', { name: 'Send' }).click();
  await expect.poll(() => sent(window).count()).toBe(3);
  expect(window.incidents).toEqual([]);
});

test('rejected files are named with the reason, and the rest is accepted', async () => {
  const window = await openSession(browser);
  await window.message.waitFor();
  const large = { name: 'film.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_100_000) };
  await chosen(window).setInputFiles([large, notes]);
  await window.page.getByText('film.bin is 5.1 MB; a file may be at most 5.0 MB.').waitFor();
  expect(await attached(window).count()).toBe(1);
  const many = Array.from({ length: 10 }, (_, index) => ({ ...notes, name: `${index}.txt` }));
  await chosen(window).setInputFiles(many);
  await window.page.getByText('9.txt was left out: a message takes at most 10 files.').waitFor();
  expect(await attached(window).count()).toBe(10);
});

test('files sent during a turn go with the next message; text alone steers the turn', async () => {
  const window = await openSession(browser, {
    replies: [{ text: 'word '.repeat(200), pieceChars: 12, delayMs: 60 }, { text: 'Read.' }],
  });
  await window.send('Talk for a while');
  await window.conversation.getByText('word word').waitFor();
  await chosen(window).setInputFiles([notes]);
  await window.page.getByText('Files are sent with the next message, after this turn.').waitFor();
  await window.send('Then read this');
  await sent(window).getByText('list.txt').waitFor();
  await window.send('Shorter, please');
  await window.conversation.getByText('You added: Shorter, please').waitFor();
  await window.conversation.getByText('Read.', { exact: true }).waitFor();
});

test('each session keeps its own draft with its files', async () => {
  const window = await openWindow(browser, { historyTurns: 1 });
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await window.message.fill('Half a thou');
  await chosen(window).setInputFiles([notes]);
  await attached(window).waitFor();
  await window.page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(() => window.message.inputValue()).toBe('');
  expect(await attached(window).count()).toBe(0);
  await window.message.fill('Something else');
  await window.page.getByRole('link', { name: /^Earlier work/ }).click();
  await expect.poll(() => window.message.inputValue()).toBe('Half a thou');
  expect(await attached(window).count()).toBe(1);
});

test('an unsent message has its text and files again after a reload, until it is sent or its session deleted', async () => {
  const window = await openWindow(browser, { historyTurns: 1, replies: [{ text: 'Read.' }] });
  const { page, host } = window;
  await window.conversation.getByText('Question 1', { exact: true }).waitFor();
  await window.message.fill('Half a thou');
  await chosen(window).setInputFiles([notes, picture]);
  await expect.poll(() => attached(window).count()).toBe(2);
  await page.reload();
  await expect.poll(() => window.message.inputValue()).toBe('Half a thou');
  await expect.poll(() => attached(window).count()).toBe(2);
  await chosen(window).setInputFiles([notes]);
  await expect.poll(() => attached(window).count()).toBe(3);
  await page.getByRole('button', { name: `Remove ${picture.name}` }).click();
  await expect.poll(() => attached(window).count()).toBe(2);
  await window.message.press('Enter');
  await window.conversation.getByText('Read.', { exact: true }).waitFor();
  expect(await sent(window).getByText(notes.name).count()).toBe(2);
  await page.reload();
  await window.conversation.getByText('Read.', { exact: true }).waitFor();
  expect(await attached(window).count()).toBe(0);

  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await expect.poll(() => page.evaluate('location.hash')).toMatch(/^#\/chat\/(?!ses_earlier)/);
  const sessionId = String(await page.evaluate("location.hash.split('/')[2]"));
  await window.message.fill('A secret draft');
  await chosen(window).setInputFiles([notes]);
  await attached(window).waitFor();
  await expect.poll(() => page.evaluate("localStorage.getItem('trayclaw.drafts')")).toContain('A secret draft');
  // In the session that is shown, the draft would stay, for a new one.
  await page.evaluate(`location.hash = '#/chat/${earlierSessionId}'`);
  await window.conversation.getByText('Read.', { exact: true }).waitFor();
  await host.op('session.delete', { sessionId });
  await expect.poll(() => page.evaluate("localStorage.getItem('trayclaw.drafts')")).not.toContain('A secret draft');
  const keptFiles = `new Promise((done) => (indexedDB.open('trayclaw').onsuccess = ({ target }) =>
    (target.result.transaction('drafts').objectStore('drafts').get('drafts').onsuccess = (read) => done(Object.keys(read.target.result)))))`;
  await expect.poll(() => page.evaluate(keptFiles)).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('a first message stays visible while another session starts elsewhere', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'Heard.' }] });
  await window.page.getByText('What can I do for you?').waitFor();
  await window.message.fill('My first words');
  const { sessionId } = (await window.host.op('session.create', {})) as { sessionId: string };
  await window.host.op('session.rename', { sessionId, title: 'Begun elsewhere' });
  await window.page.getByRole('link', { name: /^Begun elsewhere/ }).waitFor();
  expect(await window.message.inputValue()).toBe('My first words');
  await window.message.press('Enter');
  await window.conversation.getByText('Heard.', { exact: true }).waitFor();
  expect(window.page.url()).not.toContain(sessionId);
});

test('ArrowUp in an empty field recalls earlier messages, ArrowDown returns to empty', async () => {
  const window = await openWindow(browser, { historyTurns: 3 });
  await window.conversation.getByText('Question 3', { exact: true }).waitFor();
  const seen: string[] = [];
  await window.message.focus();
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
    await window.page.keyboard.press(key);
    seen.push(await window.message.inputValue());
  }
  expect(seen).toEqual(['Question 3', 'Question 2', 'Question 1', 'Question 1', 'Question 2', 'Question 3', '']);
  // In typed text the keys move the caret.
  await window.message.fill('Mine');
  await window.page.keyboard.press('ArrowUp');
  expect(await window.message.inputValue()).toBe('Mine');
});

test("a session's model is chosen in the composer and used by the next turn", async () => {
  const window = await openSession(browser, { replies: [{ text: 'One.' }, { text: 'Two.' }] });
  await window.send('First');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  const choice = window.page.getByRole('combobox', { name: 'Model of this session' });
  expect(await choice.locator('option').first().innerText()).toBe('lab/scripted (default)');
  await choice.selectOption('demo/offline');
  const sessionId = window.page.url().split('/').at(-1) ?? '';
  const model = async (): Promise<unknown> =>
    ((await window.host.op('session.get', { sessionId, limit: 1 })) as { session: { model: string | null } }).session.model;
  await expect.poll(model).toBe('demo/offline');
  await choice.selectOption('');
  await expect.poll(model).toBe(null);
  // The window shows a change made through another door.
  await window.host.op('session.configure', { sessionId, model: 'demo/offline' });
  await expect.poll(() => choice.inputValue()).toBe('demo/offline');
});
