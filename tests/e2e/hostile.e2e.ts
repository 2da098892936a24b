// Hostile model answers and tool results: nothing runs, nothing navigates, nothing leaves the host, and the window stays usable.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';
import { watchWork } from './driver/worked-ms.ts';
import { isSoak, soak } from '../soak.ts';
import { hostileTexts } from './hostile-texts.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

// The payloads call ran(); links that could do something are clicked as well.
const initScript = 'window.__ran = 0; window.ran = () => { window.__ran += 1; };';
// No animations: while something moves, the whole window is redrawn for each frame.
const context = { reducedMotion: 'reduce' } as const;
/**
 * Upper bound for all the work that one text causes in the window, as a multiple of `referenceWork` in the same page, so that a slow
 * machine does not fail the test.
 */
const busyTimesMax = 15;
/** Lays out two thousand plain lines. */
const referenceWork = `(() => {
  const list = document.createElement('div');
  for (let i = 0; i < 2000; i++) {
    const line = document.createElement('p');
    line.append('some ', Object.assign(document.createElement('b'), { textContent: 'words ' + i }), ' in a line');
    list.append(line);
  }
  document.body.append(list);
  list.getBoundingClientRect();
  list.remove();
  document.body.getBoundingClientRect();
})()`;
const referencesKept = 5;
const entries = Object.entries(hostileTexts);

/** Every text is tested as an answer, and in one of the three other ways; the long run tests each text in every way. */
function comingIn(way: 'again' | 'as a result' | 'in Activity'): typeof entries {
  const place = ['again', 'as a result', 'in Activity'].indexOf(way);
  return entries.filter((_, index) => isSoak || index % 3 === place);
}

test('the list contains enough texts', () => {
  expect(entries.length).toBeGreaterThanOrEqual(60);
});

test('the bound detects a blocked window', async () => {
  const window = await openSession(browser, { initScript, context });
  const busy = await watchBusy(window);
  await expectNoFreeze(busy, 'nothing');
  await window.page.evaluate(`for (let i = 0; i < ${busyTimesMax * 2}; i++) ${referenceWork}`);
  await expect(expectNoFreeze(busy, 'held up')).rejects.toThrow('held up');
});

async function ranIn(page: { evaluate<T>(source: string): Promise<T> }): Promise<number> {
  // Wait twice around the event loop and for a frame, so that handlers of failed loads run.
  return page.evaluate<number>('new Promise((done) => setTimeout(() => requestAnimationFrame(() => done(window.__ran)), 60))');
}

/** The only allowed frames are ours that draw diagrams. */
const ownFrame = 'iframe[sandbox="allow-scripts"][src="./diagram.html"][tabindex="-1"]';

type Busy = () => Promise<{ readonly busyMs: number; readonly referenceMs: number }>;

/**
 * Returns a function that reports how long the processor worked for the window since the previous call, and how long the reference takes
 * now.
 */
async function watchBusy({ page }: WindowUnderTest): Promise<Busy> {
  const workedMs = await watchWork(page);
  let beforeMs = await workedMs();
  const sinceBefore = async (): Promise<number> => {
    const allMs = await workedMs();
    const busyMs = Math.round(allMs - beforeMs);
    beforeMs = allMs;
    return busyMs;
  };
  const references: number[] = [];
  const refer = async (): Promise<void> => {
    await page.evaluate(referenceWork);
    references.push(await sinceBefore());
  };
  for (let i = 0; i < referencesKept; i++) await refer();
  return async () => {
    const busyMs = await sinceBefore();
    await refer();
    const newest = references.slice(-referencesKept).sort((a, b) => a - b);
    return { busyMs, referenceMs: newest[(referencesKept - 1) / 2] ?? Number.NaN };
  };
}

async function expectNoFreeze(busy: Busy, name: string): Promise<void> {
  const { busyMs, referenceMs } = await busy();
  // The comparison is written so that a missing figure fails.
  expect({ name, busyMs, referenceMs, isQuick: busyMs <= referenceMs * busyTimesMax }).toEqual({
    name,
    busyMs,
    referenceMs,
    isQuick: true,
  });
}

const forbidden = `:is(script, iframe:not(${ownFrame}), object, embed, form, img, video, audio, base, meta, link, style, maction, [href^=javascript], [style], math:not(.formula *, [aria-label=Formula] *), foreignObject, .document svg:not([aria-hidden]))`;

/** Asserts that the shown texts ran nothing, navigated nowhere, and contain no element that could. */
async function expectTame(page: Page, names: readonly string[]): Promise<void> {
  expect({ names, ran: await ranIn(page) }).toEqual({ names, ran: 0 });
  const elements = await page.evaluate<number>(`document.querySelectorAll('[role=log] ${forbidden}').length`);
  expect({ names, elements }).toEqual({ names, elements: 0 });
  const links = await page.evaluate<string[]>(
    '[...document.querySelectorAll("[role=log] .document a[href]")].map((a) => a.protocol + a.target + a.rel)',
  );
  const kinds = new Set(links.map((link) => link.replace(/^(https?|mailto):/, '')));
  expect({ names, kinds: [...kinds] }).toEqual({ names, kinds: kinds.size === 0 ? [] : ['_blanknoopener noreferrer'] });
}

/** Opens a new session for the next text: texts left by earlier ones are not part of the case, and searching them gets slower with each. */
async function openFreshSession({ page, host, message }: WindowUnderTest): Promise<void> {
  const { sessionId } = (await host.op('session.create', {})) as { sessionId: string };
  await page.goto(`${host.origin}/#/chat/${sessionId}`);
  await page.locator('[role=log] [data-turn]').first().waitFor({ state: 'detached' });
  await message.waitFor();
}

test('as received answers: one by one in the long run, eight in one in every run', { timeout: 480_000 }, async () => {
  const answers = chunksOf(entries, soak(8, 1));
  const window = await openSession(browser, { initScript, context, replies: answers.map((some) => ({ text: joinedTexts(some) })) });
  const busy = await watchBusy(window);
  for (const [index, some] of answers.entries()) {
    const names = some.map(([name]) => name);
    await openFreshSession(window);
    await window.send(`Say part ${index}`);
    await window.page.getByText(`Say part ${index}`, { exact: true }).last().waitFor();
    await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
    await expectTame(window.page, names);
    await expectNoFreeze(busy, names.join(', '));
  }
  expect(window.incidents).toEqual([]);
});

test('as answers of an earlier conversation, many at once', { timeout: 480_000 }, async () => {
  const texts = comingIn('again');
  const window = await openSession(browser, { initScript, context, replies: texts.map(([, text]) => ({ text })) });
  const { page, host } = window;
  for (const some of chunksOf(texts, 10)) {
    let sessionId: string | undefined;
    for (const [name] of some) {
      const sent = { text: `Say ${name}`, ...(sessionId === undefined ? {} : { sessionId }) };
      const { turnId, ...made } = (await host.op('message.send', sent)) as { sessionId: string; turnId: string };
      await host.op('turn.wait', { turnId });
      sessionId = made.sessionId;
    }
    await page.goto(`${host.origin}/#/chat/${sessionId ?? ''}`);
    await page
      .getByText(`Say ${some.at(-1)?.[0] ?? ''}`, { exact: true })
      .last()
      // Ten of the texts are made to be slow; expectNoFreeze checks the speed of each.
      .waitFor({ timeout: 120_000 });
    await expectTame(
      page,
      some.map(([name]) => name),
    );
  }
  expect(window.incidents).toEqual([]);
});

test('as tool results, opened in their cards', { timeout: 480_000 }, async () => {
  const texts = comingIn('as a result');
  const files = Object.fromEntries(texts.map(([name, text]) => [`${name}.txt`, text]));
  const chunks = chunksOf(texts, 8);
  const replies = chunks.flatMap((chunk, index) => [
    { calls: chunk.map(([name]) => ({ tool: 'read_file', args: { path: `${name}.txt` } })) },
    { text: `Read part ${index}.` },
  ]);
  const window = await openWindow(browser, { initScript, context, replies, files });
  for (const [index, chunk] of chunks.entries()) {
    const names = chunk.map(([name]) => name);
    await openFreshSession(window);
    await window.send(`Open part ${index}`);
    const turn = window.conversation.locator('[data-turn]').last();
    await turn.getByText(`Read part ${index}.`, { exact: true }).waitFor();
    // One of the files contains a NUL byte and is refused as not being text; its card still opens. The buttons are looked up by name once,
    // while all cards are closed, because computing names is slow with open cards.
    const found = chunk.map(([name]) => turn.getByRole('button', { name: new RegExp(`^(?:Read|Tried to read) ${name}\\.txt`) }));
    const lines = await Promise.all(found.map((line) => line.elementHandle()));
    expect(lines.every((line) => line !== null)).toBe(true);
    for (const line of lines) await line?.click();
    const results = window.page.locator('[role=group][aria-label=Result]');
    await expect.poll(() => results.count()).toBe(chunk.length);
    expect({ names, ran: await ranIn(window.page) }).toEqual({ names, ran: 0 });
    for (const line of lines) await line?.click();
    await expect.poll(() => results.count()).toBe(0);
  }
  expect(window.incidents).toEqual([]);
});

test('in Activity, as answers and as results, with everything expanded', { timeout: 480_000 }, async () => {
  const texts = comingIn('in Activity');
  const files = Object.fromEntries(texts.map(([name, text]) => [`${name}.txt`, text]));
  const chunks = chunksOf(texts, 8);
  const replies = chunks.flatMap((chunk) => [
    { text: chunk[0]?.[1] ?? '', calls: chunk.map(([name]) => ({ tool: 'read_file', args: { path: `${name}.txt` } })) },
    { text: joinedTexts(chunk) },
  ]);
  const window = await openWindow(browser, { initScript, context, replies, files });
  const { page, host } = window;
  let sessionId: string | undefined;
  const turnIds: string[] = [];
  for (const [index] of chunks.entries()) {
    const sent = { text: `Part ${index}`, ...(sessionId === undefined ? {} : { sessionId }) };
    const { turnId, ...made } = (await host.op('message.send', sent)) as { sessionId: string; turnId: string };
    await host.op('turn.wait', { turnId });
    sessionId = made.sessionId;
    turnIds.push(turnId);
  }
  const busy = await watchBusy(window);
  for (const [index, turnId] of turnIds.entries()) {
    await page.goto(`${host.origin}/#/activity/${sessionId ?? ''}/${turnId}`);
    await page.getByText(`Part ${index}`, { exact: true }).last().waitFor();
    await page
      .getByText(`${chunks[index]?.[1]?.[0] ?? ''}.txt`)
      .first()
      .waitFor();
    // Each element is opened once; its content may contain more.
    await page.evaluate(`(async () => {
      const done = new Set();
      for (let round = 0; round < 4; round++) {
        const closed = [...document.querySelectorAll('main [aria-expanded="false"], main details:not([open]) > summary')].filter((one) => !done.has(one) && !one.closest('[role=menu], [aria-haspopup]'));
        for (const one of closed) { done.add(one); one.click(); }
        await new Promise((next) => setTimeout(() => requestAnimationFrame(next), 100));
      }
    })()`);
    expect({ index, ran: await ranIn(page) }).toEqual({ index, ran: 0 });
    const elements = await page.evaluate<number>(
      `document.querySelectorAll('main :is(script, iframe:not(${ownFrame}), object, embed, img, video, audio, base, meta, link, style, [href^=javascript], [onclick], [onerror])').length`,
    );
    expect({ index, elements }).toEqual({ index, elements: 0 });
    await expectNoFreeze(busy, `activity ${index}`);
  }
  expect(window.incidents).toEqual([]);
});

test('as a call to approve, shown in full and escaped', async () => {
  const names = ['bidi', 'scriptTag', 'imageOnError', 'longLine'] as const;
  const calls = names.map((name) => ({ tool: 'write_file', args: { path: `${name}.md`, content: hostileTexts[name].slice(0, 50_000) } }));
  const window = await openSession(browser, { initScript, context, replies: [{ calls }] });
  await window.send('Write them');
  await expect.poll(() => window.approval.count()).toBe(names.length);
  expect(await ranIn(window.page)).toBe(0);
  for (const text of await window.approval.allInnerTexts()) expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b]/);
  expect(window.incidents).toEqual([]);
});

test('as the name of an argument, which turns nothing around', async () => {
  const call = { tool: 'read_file', args: { path: 'notes.md', 'safe\u202e': 'no' } };
  const window = await openWindow(browser, { replies: [{ calls: [call] }, { text: 'Refused.' }] });
  await window.send('Read it');
  await window.conversation.getByText('Refused.', { exact: true }).waitFor();
  await window.page.getByRole('button', { name: /^(?:Tried to|Did not) read/ }).click();
  const card = window.page.getByRole('group', { name: /read notes\.md/ });
  await card.getByText('U+202E').first().waitFor();
  expect(await card.innerText()).not.toContain('\u202e');
});

function joinedTexts(some: readonly (readonly [string, string])[]): string {
  return some.map(([, text]) => (some.length > 1 ? text.slice(0, 20_000) : text)).join('\n\n');
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));
}
