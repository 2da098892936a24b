// Only the event stream between browser and host is cut: the window recovers automatically, loses nothing and repeats nothing.

import { createServer, request as send, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const long = Array.from({ length: 60 }, (_, at) => `Sentence number ${at} of a long answer.`).join(' ');
const slowly = { text: long, pieceChars: 12, delayMs: 15 };

/** The conversation as a person reads it: each message and answer once, in order. */
const shownTexts = (window: WindowUnderTest): Promise<string[]> =>
  window.page.evaluate<string[]>(
    "[...document.querySelectorAll('[role=log] [data-turn] :is(.message p, .answer .document)')].map((one) => one.innerText.trim()).filter((text) => text !== '')",
  );

/** Asserts that the page shows exactly the same text after it is opened again: nothing is left over, nothing is missing. */
async function expectSameAfresh(window: WindowUnderTest): Promise<void> {
  const before = await window.conversation.innerText();
  await window.openAddress();
  await window.page.reload();
  await expect.poll(() => window.conversation.innerText()).toBe(before);
}

/** A proxy between browser and host that can cut the event stream; all other requests always pass. */
async function startCutter(): Promise<{ readonly server: string; cut(): number; hold(isHeld: boolean): void }> {
  const streams = new Set<ServerResponse>();
  let isHeld = false;
  const proxy = createServer((request, response) => {
    const address = new URL(request.url ?? '');
    const isStream = address.pathname === '/api/events';
    if (isStream && isHeld) return void response.destroy();
    if (isStream) streams.add(response);
    const onward = send(address, { method: request.method ?? 'GET', headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => {
      streams.delete(response);
      onward.destroy();
    });
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    return new Promise<void>((resolve) => proxy.close(() => resolve()));
  });
  const cut = (): number => {
    const open = [...streams];
    for (const stream of open) stream.destroy();
    return open.length;
  };
  return {
    server: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    hold: (held) => void (isHeld = held),
  };
}

test('a window opened mid-answer shows its beginning at once and each piece once', { timeout: 60_000 }, async () => {
  const window = await openWindow(browser, { replies: [{ ...slowly, delayMs: 40 }] });
  await window.send('Tell me');
  await window.conversation.getByText('Sentence number 12').waitFor();
  await window.page.reload();
  await window.conversation.getByText('Sentence number 0 of').waitFor();
  // While it streams, the text must be incomplete, and without gaps from its beginning.
  await window.conversation.getByText('Sentence number 20').waitFor();
  const shown = await window.page.evaluate<string>(`document.querySelector('.answer .document').innerText`);
  expect([long.startsWith(shown.trim()), shown.length < long.length]).toEqual([true, true]);
  await window.conversation.getByText('Sentence number 59 of a long answer.').waitFor();
  expect(await shownTexts(window)).toEqual(['Tell me', long]);
  expect(window.incidents).toEqual([]);
});

test('after repeated cuts of the stream the answer is complete and there once', async () => {
  const cutter = await startCutter();
  const window = await openWindow(browser, { replies: [slowly], context: { proxy: { server: cutter.server, bypass: '<-loopback>' } } });
  await window.send('Talk');
  for (const at of [2, 12, 25, 40]) {
    await expect.poll(() => window.conversation.innerText()).toMatch(new RegExp(`number (?:${at}|[${at}-9]\\d|59) `));
    // The stream may still be reconnecting after the previous cut.
    await expect.poll(() => cutter.cut()).toBeGreaterThan(0);
  }
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  await expect.poll(() => shownTexts(window)).toEqual(['Talk', long]);
  await expectSameAfresh(window);
  expect(window.incidents).toEqual([]);
});

test('events during a cut are shown afterwards, in order and once', async () => {
  const cutter = await startCutter();
  const replies = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Four.' }];
  const window = await openWindow(browser, { replies, context: { proxy: { server: cutter.server, bypass: '<-loopback>' } } });
  await window.send('Say one');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  cutter.hold(true);
  expect(cutter.cut()).toBe(1);
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { sessionId: string }[] };
  const sessionId = sessions[0]?.sessionId ?? '';
  for (const text of ['Say two', 'Say three']) {
    const { turnId } = (await window.host.op('message.send', { text, sessionId })) as { turnId: string };
    await window.host.op('turn.wait', { turnId });
  }
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  expect(await shownTexts(window)).toEqual(['Say one', 'One.']);
  cutter.hold(false);
  await expect.poll(() => shownTexts(window)).toEqual(['Say one', 'One.', 'Say two', 'Two.', 'Say three', 'Three.']);
  await window.send('Say four');
  await window.conversation.getByText('Four.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  await expectSameAfresh(window);
  expect(window.incidents).toEqual([]);
});
