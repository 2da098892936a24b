// Hostile model answers and tool results: nothing runs, nothing navigates, nothing leaves the host, and the window stays usable.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';
import { hostileTexts } from './hostile-texts.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

// The payloads call ran(); links that would act are pressed as well.
const initScript = 'window.__ran = 0; window.ran = () => { window.__ran += 1; };';
const entries = Object.entries(hostileTexts);

test('there are enough of them', () => {
  expect(entries.length).toBeGreaterThanOrEqual(60);
});

async function ranIn(page: { evaluate<T>(source: string): Promise<T> }): Promise<number> {
  // Twice around the event loop and a frame, for handlers of failed loads.
  return page.evaluate<number>('new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(window.__ran)), 60))');
}

test('as answers of the model', { timeout: 240_000 }, async () => {
  const window = await openWindow(browser, { initScript, replies: entries.map(([, text]) => ({ text })) });
  for (const [name] of entries) {
    await window.send(`Say ${name}`);
    await window.page.getByText(`Say ${name}`, { exact: true }).last().waitFor();
    await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
    expect({ name, ran: await ranIn(window.page) }).toEqual({ name, ran: 0 });
  }
  const hrefs = await window.page.evaluate<string[]>(
    '[...document.querySelectorAll("[role=log] .document a[href]")].map((a) => a.protocol + a.target + a.rel)',
  );
  expect(new Set(hrefs.map((href) => href.replace(/^(https?|mailto):/, '')))).toEqual(new Set(['_blanknoopener noreferrer']));
  const elements = await window.page.evaluate<number>(
    'document.querySelectorAll("[role=log] :is(script, iframe, object, embed, form, img, video, audio, base, meta, link, style, maction, [href^=javascript], [style], math:not(.formula *, [aria-label=Formula] *), foreignObject, .document svg:not([aria-hidden]))").length',
  );
  expect(elements).toBe(0);
  expect(window.incidents).toEqual([]);
});

test('as results of tools, opened in their cards', { timeout: 240_000 }, async () => {
  const files = Object.fromEntries(entries.map(([name, text]) => [`${name}.txt`, text]));
  const replies = chunksOf(entries, 8).flatMap((chunk, index) => [
    { calls: chunk.map(([name]) => ({ tool: 'read_file', args: { path: `${name}.txt` } })) },
    { text: `Read part ${index}.` },
  ]);
  const window = await openWindow(browser, { initScript, replies, files });
  for (const [index, chunk] of chunksOf(entries, 8).entries()) {
    await window.send(`Open part ${index}`);
    await window.conversation.getByText(`Read part ${index}.`, { exact: true }).waitFor();
    for (const [name] of chunk) {
      // One of them holds a NUL byte and is refused as no text; its card is opened all the same.
      const line = window.page.getByRole('button', { name: new RegExp(`^(?:Read|Tried to read) ${name}\\.txt`) });
      await line.click();
      await window.page.getByRole('group', { name: 'Result' }).last().waitFor();
      expect({ name, ran: await ranIn(window.page) }).toEqual({ name, ran: 0 });
      await line.click();
    }
  }
  expect(window.incidents).toEqual([]);
});

test('as what is to be approved, shown in full and escaped', async () => {
  const names = ['bidi', 'scriptTag', 'imageOnError', 'longLine'] as const;
  const calls = names.map((name) => ({ tool: 'write_file', args: { path: `${name}.md`, content: hostileTexts[name].slice(0, 50_000) } }));
  const window = await openWindow(browser, { initScript, replies: [{ calls }] });
  await window.send('Write them');
  await expect.poll(() => window.approval.count()).toBe(names.length);
  expect(await ranIn(window.page)).toBe(0);
  for (const text of await window.approval.allInnerTexts()) expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
  expect(window.incidents).toEqual([]);
});

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}
