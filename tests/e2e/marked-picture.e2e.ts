// The approval of an action on a web page shows a picture of the page with the element marked.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { installedBrowser } from '../rigs/browser-bench.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const shop = `<!doctype html><title>Shop</title><body style="font: 16px sans-serif; margin: 40px">
  <h1>Shop</h1><p>${'Many words about shoes. '.repeat(40)}</p>
  <form method="post" action="/buy"><button style="padding: 8px 24px">Buy now</button></form><p>${'And more words. '.repeat(200)}</p>`;

async function serveShop(): Promise<string> {
  const server = createServer((_request, response) => void response.setHeader('content-type', 'text/html').end(shop));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('the card shows the part of the page around the element, with a frame on it', { timeout: 120_000 }, async () => {
  const host = await serveShop();
  const act = (args: Record<string, unknown>) => ({ calls: [{ tool: 'browser', args }] });
  const window = await openWindow(browser, {
    config: { browser: { allowHosts: [host], executable: installedBrowser() ?? expect.unreachable() } },
    replies: [act({ action: 'open', url: `http://${host}/` }), act({ action: 'click', ref: 'e5' }), { text: 'I left it.' }],
  });
  const { page, approval, conversation } = window;
  await window.send('Buy the shoes');
  const picture = approval.getByRole('img', { name: 'The page, with the element marked' });
  await picture.waitFor();
  // The picture is shown, and the frame is within the visible part.
  await looksGood(page, 'marked-picture', async () => {
    const seen = await picture.boundingBox();
    const frame = await picture.locator('rect').boundingBox();
    if (seen === null || frame === null) throw new Error('both are on the screen');
    expect([frame.y >= seen.y, frame.y + frame.height <= seen.y + seen.height, frame.width > 10]).toEqual([true, true, true]);
  });
  await approval.getByRole('button', { name: 'Deny' }).click();
  await conversation.getByText('I left it.', { exact: true }).waitFor();
  expect(window.incidents).toEqual([]);
});
