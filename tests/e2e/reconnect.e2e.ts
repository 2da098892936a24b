// A host that dies in mid-stream, and a stream that is cut alone: the window recovers with everything that was recorded, each item once.

import { createServer } from 'node:http';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Every word is different, so that a lost or repeated word is noticed. */
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `word${index + 1}`).join(' ');
const slowly = { pieceChars: 8, delayMs: 40 } as const;

/** Lets the spec cut the event stream and nothing else. */
const cutting = `(() => {
  const real = window.fetch;
  const streams = new Set();
  window.cutCount = 0;
  window.openCount = 0;
  window.cutStream = () => { for (const stream of streams) stream.abort(); streams.clear(); window.cutCount += 1; };
  window.fetch = (input, init = {}) => {
    if (!String(input).includes('/api/events')) return real(input, init);
    const own = new AbortController();
    init.signal?.addEventListener('abort', () => own.abort());
    streams.add(own);
    return real(input, { ...init, signal: own.signal }).then((response) => { window.openCount += 1; return response; });
  };
})();`;

interface RecordedEvent {
  readonly type: string;
  readonly sessionSeq: number;
  readonly body: { readonly text?: string };
}

async function recorded(window: WindowUnderTest): Promise<readonly RecordedEvent[]> {
  const { sessions } = (await window.host.op('session.list', {})) as { sessions: { sessionId: string }[] };
  const { events } = (await window.host.op('session.get', { sessionId: sessions[0]?.sessionId, limit: 5000 })) as {
    events: RecordedEvent[];
  };
  return events;
}

/** Asserts that the window shows the log's turns: each message and each answer of the log once, in order. */
async function expectSame(window: WindowUnderTest): Promise<void> {
  const events = await recorded(window);
  const messages = events.flatMap(({ type, body }) => (type === 'user.message' ? [body.text] : []));
  const answers = events.flatMap(({ type, body }) => (type === 'assistant.message' ? [body.text] : []));
  await expect.poll(() => window.conversation.locator('.message > p').allInnerTexts()).toEqual(messages);
  await expect.poll(() => window.conversation.locator('.answer .document').allInnerTexts()).toEqual(answers);
  expect(events.map(({ sessionSeq }) => sessionSeq)).toEqual(events.map((_, index) => index + 1));
}

test('a view that could not be loaded while the host was away is shown when it is back', async () => {
  const window = await openWindow(browser, { ownProcess: true });
  await window.page.getByText('$0.00 of $10.00 today').waitFor();
  await window.message.fill('An unsent thought');
  await window.host.stop('SIGKILL');
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  await window.go('Memory');
  await window.page.getByText(/^This page could not be loaded/).waitFor();
  await window.host.start();
  await window.page.getByText('Nothing is remembered yet.').waitFor();
  await window.go('Chat');
  expect(await window.message.inputValue()).toBe('An unsent thought');
});

test('the window reconnects although it could not load the check of the host before', async () => {
  const window = await openWindow(browser, { withoutToken: true });
  const tries: boolean[] = [];
  let isAway = true;
  await window.page.route('**/prove-server*', async (route) => {
    tries.push(isAway);
    await (isAway ? route.abort() : route.continue());
  });
  await window.openAddress();
  await window.page.getByText('$0.00 of $10.00 today').waitFor();
  await window.host.stop();
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  await expect.poll(() => tries.length).toBeGreaterThan(1);
  await window.host.start();
  isAway = false;
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor({ state: 'detached' });
  expect(tries.at(-1)).toBe(false);
});

test('another program on the port of an ended host gets no token, not even from a reload, and the window reconnects to the host', async () => {
  const window = await openWindow(browser, { replies: [{ text: 'One.' }] });
  await window.page.getByText('$0.00 of $10.00 today').waitFor();
  await window.host.stop();
  const asked: { readonly path: string; readonly token: string | undefined }[] = [];
  const stranger = createServer((request, response) => {
    asked.push({ path: request.url ?? '', token: request.headers.authorization });
    response.end('{"ok":true,"result":{"proofs":[]}}');
  });
  await new Promise<void>((resolve) => stranger.listen(Number(new URL(window.host.origin).port), '127.0.0.1', resolve));
  await window.page.getByText(/another program uses its address/).waitFor();
  // After a reload, the page of the other program could read what the tab has stored.
  const stored = (): Promise<string[]> => window.page.evaluate<string[]>('Object.values({ ...sessionStorage })');
  expect(await stored()).not.toContain(window.host.token);
  await window.send('First');
  await expect.poll(() => window.message.inputValue()).toBe('First');
  expect(asked.filter(({ path, token }) => token !== undefined || !path.startsWith('/api/prove'))).toEqual([]);
  stranger.closeAllConnections();
  await new Promise((resolve) => stranger.close(resolve));
  await window.host.start();
  await window.page.getByText(/another program uses its address/).waitFor({ state: 'detached' });
  await window.message.press('Enter');
  await window.conversation.getByText('One.', { exact: true }).waitFor();
  expect(await stored()).toContain(window.host.token);
  expect(window.incidents).toEqual([]);
});

test('after the host was killed mid-answer, every message and answer is there once', async () => {
  const window = await openWindow(browser, {
    ownProcess: true,
    replies: [
      { calls: [{ tool: 'read_file', args: { path: 'notes.md' } }], text: 'A look first.' },
      { text: numbered(400), ...slowly },
      { text: `Again: ${numbered(60)}` },
      { text: 'And on.' },
    ],
  });
  await window.send('Tell me all');
  await window.conversation.getByText('word20 word21').waitFor();
  await window.host.stop('SIGKILL');
  await window.page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  // Text on the screen stays.
  expect(await window.conversation.locator('.answer').innerText()).toContain('word1 word2');
  await window.host.start();
  // The address need not be opened again: a crash keeps the token.
  await window.conversation.getByText('Again: word1 word2').waitFor();
  expect(await window.conversation.getByText('word20 word21').count()).toBe(1);
  expect(await window.page.getByRole('button', { name: /^Read notes\.md/ }).count()).toBe(1);
  await expectSame(window);
  await window.send('Go on');
  await window.conversation.getByText('And on.', { exact: true }).waitFor();
  await expectSame(window);
  expect(window.incidents).toEqual([]);
});

test("a restart keeps the open window's session, scroll position and draft", async () => {
  const window = await openWindow(browser, { historyTurns: 30 });
  const { page, conversation, message } = window;
  await page.getByRole('link', { name: /Earlier work/ }).click();
  await conversation.getByText('Answer 30.').waitFor();
  await message.fill('Half a thought');
  // A conversation that has just been opened scrolls to its end.
  await expect.poll(() => conversation.evaluate((log) => log.scrollTop)).toBeGreaterThan(0);
  const read = conversation.getByText('Question 24');
  await read.scrollIntoViewIfNeeded();
  // The position of the text in the region. The scroll position changes while older turns are loaded above.
  const place = async (): Promise<number> => {
    const top = async (part: Locator): Promise<number> => (await part.boundingBox())?.y ?? Number.NaN;
    return (await top(read)) - (await top(conversation));
  };
  const before = await place();
  const address = page.url();
  const token = window.host.token;
  await window.host.stop();
  await page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  // A message that cannot be sent stays in its field, and the banner says why.
  await message.press('Enter');
  await page.locator('[aria-live="polite"]').getByText('TrayClaw is not responding.', { exact: true }).waitFor();
  expect(await page.getByRole('region', { name: 'Notices' }).innerText()).toBe('');
  // An operation that fails in between shows a notice, which disappears once the program responds.
  await page.getByRole('button', { name: 'Panic stop' }).click();
  await page.getByRole('region', { name: 'Notices' }).getByText('TrayClaw is not responding.', { exact: true }).waitFor();
  await window.host.start();
  await expect.poll(() => page.getByText('TrayClaw is not responding').count(), { timeout: 15_000 }).toBe(0);
  expect(window.host.token).not.toBe(token);
  expect([page.url(), await message.inputValue()]).toEqual([address, 'Half a thought']);
  expect(Math.abs((await place()) - before)).toBeLessThan(2);
  await message.press('Enter');
  await conversation.getByText('Done.', { exact: true }).waitFor();
  // The tab has stored the new token, so it can be reloaded.
  await page.reload();
  await conversation.getByText('Half a thought').waitFor();
  expect(window.incidents).toEqual([]);
});

test('a session opened while the host is away is loaded when it is back', async () => {
  const window = await openWindow(browser, { historyTurns: 3 });
  const { page, conversation } = window;
  await page.getByRole('link', { name: /Earlier work/ }).waitFor();
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  // The session is created by then, so that the reload shows it again.
  await page.getByText('What can I do for you?').waitFor();
  await page.reload();
  await page.getByText('What can I do for you?').waitFor();
  await page.route('**/api/ops/session.get', (route) => route.abort());
  await page.getByRole('link', { name: /Earlier work/ }).click();
  await conversation.getByRole('button', { name: 'Try again' }).waitFor();
  await window.host.stop();
  await page.getByText('TrayClaw is not responding. Retrying…').waitFor();
  // The banner says it already.
  await conversation.getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
  await page.unroute('**/api/ops/session.get');
  await window.host.start();
  await conversation.getByText('Answer 3.').waitFor();
});

test('after repeated kills of the host nothing is lost or duplicated', async () => {
  const window = await openWindow(browser, {
    ownProcess: true,
    replies: [
      { text: numbered(400), ...slowly },
      { text: numbered(300), ...slowly },
      { text: numbered(200), ...slowly },
      { text: 'At last.' },
    ],
  });
  await window.send('Tell me all');
  for (let life = 0; life < 3; life++) {
    // A window opened mid-stream shows the live text from there on.
    await window.conversation.locator('.answer', { hasText: /word\d+ word\d+ word/ }).waitFor();
    await window.host.stop('SIGKILL');
    await window.host.start();
    const resumed = async (): Promise<number> => (await recorded(window)).filter(({ type }) => type === 'turn.resumed').length;
    await expect.poll(resumed, { timeout: 15_000 }).toBe(life + 1);
    await expect.poll(() => window.page.getByText('TrayClaw is not responding. Retrying…').count(), { timeout: 15_000 }).toBe(0);
  }
  await window.conversation.getByText('At last.', { exact: true }).waitFor();
  await expectSame(window);
  // The turn was running each time the host was killed.
  expect((await recorded(window)).filter(({ type }) => type === 'turn.resumed')).toHaveLength(3);
  expect(window.incidents).toEqual([]);
});

test('after cuts of the stream alone the window marks gaps and gets the whole text', async () => {
  const text = numbered(240);
  // After each cut some words are sent before the window reconnects, and the next ones afterwards.
  const cuts = ['word15 ', 'word60 ', 'word110 '].map((word, at) => ({
    word,
    lost: { afterFrames: 20 + at * 50, until: Promise.withResolvers<void>() },
    followed: { afterFrames: 40 + at * 50, until: Promise.withResolvers<void>() },
  }));
  const end = { afterFrames: 200, until: Promise.withResolvers<void>() };
  const holds = [...cuts.flatMap(({ lost, followed }) => [lost, followed]), end].map(({ afterFrames, until }) => ({
    afterFrames,
    until: until.promise,
  }));
  const window = await openWindow(browser, { initScript: cutting, replies: [{ text, pieceChars: 8, holds }, { text: 'Next.' }] });
  await window.send('Tell me all');
  for (const { word, lost, followed } of cuts) {
    const opened = await window.page.evaluate<number>('window.openCount');
    await window.conversation.locator('.answer', { hasText: word }).waitFor();
    await window.page.evaluate('window.cutStream()');
    lost.until.resolve();
    await expect.poll(() => window.page.evaluate('window.openCount'), { timeout: 30_000 }).toBe(opened + 1);
    followed.until.resolve();
  }
  // A gap in the live text is marked.
  await window.conversation.locator('.answer', { hasText: '…' }).waitFor();
  end.until.resolve();
  await window.conversation.locator('.answer', { hasText: 'word240' }).waitFor();
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor({ state: 'detached' });
  expect(await window.conversation.locator('.answer .document').innerText()).toBe(text);
  expect(await window.page.evaluate<number>('window.cutCount')).toBe(3);
  await window.send('Go on');
  await window.conversation.getByText('Next.', { exact: true }).waitFor();
  await expectSame(window);
  expect(window.incidents).toEqual([]);
});

test('a window opened during an answer shows it from its beginning', async () => {
  const text = numbered(120);
  const [reloaded, seen] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holds = [
    { afterFrames: 60, until: reloaded.promise },
    { afterFrames: 90, until: seen.promise },
  ];
  const window = await openWindow(browser, { replies: [{ text, pieceChars: 8, holds }] });
  await window.send('Tell me all');
  await window.conversation.locator('.answer', { hasText: 'word40 ' }).waitFor();
  await window.page.reload();
  const answer = window.conversation.locator('.answer .document');
  await window.page.getByRole('button', { name: 'Stop turn' }).waitFor();
  reloaded.resolve();
  await answer.waitFor();
  expect(await answer.innerText()).toMatch(/^word1 word2 .*word40 /);
  seen.resolve();
  await expect.poll(() => answer.innerText(), { timeout: 30_000 }).toBe(text);
  await expectSame(window);
  expect(window.incidents).toEqual([]);
});

test('a view shows that it is loading, and never that it is empty', async () => {
  const { page } = await openWindow(browser);
  for (const [route, op] of [
    ['memory', 'memory.list'],
    ['artifacts', 'artifact.list'],
    ['schedules', 'schedule.list'],
    ['skills', 'skill.list'],
    ['health/usage', 'usage.get'],
    ['running/tasks', 'work.list'],
  ] as const) {
    let giveOut = (): void => undefined;
    const given = new Promise<void>((resolve) => (giveOut = resolve));
    await page.route(`**/api/ops/${op}`, async (request) => {
      await given;
      await request.continue();
    });
    await page.evaluate(`location.hash = '#/${route}'`);
    const loads = page.locator('main').getByText('Loading…');
    await loads.first().waitFor();
    expect({ route, empty: await page.locator('main .empty').filter({ visible: true }).count() }).toEqual({ route, empty: 0 });
    giveOut();
    await expect.poll(() => loads.count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });
  }
});
