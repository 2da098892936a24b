// Hostile answers of a model in the desktop window: nothing runs, nothing navigates, nothing opens outside.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openableLink } from '../../main/desktop/external-links.ts';
import { isSoak } from '../soak.ts';
import { DesktopUnderTest } from './desktop-rig.ts';
import { hostileTexts } from './hostile-texts.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

/** Every second text; all in the long run. The specs of the window show each text in every run. */
const texts = Object.entries(hostileTexts).filter((_, index) => isSoak || index % 2 === 0);

test(`${texts.length} hostile texts: the window stays on its page and opens nothing`, async () => {
  const requests: string[] = [];
  app.page.on('request', (request) => requests.push(request.url()));
  await app.page.evaluate('window.__ran = 0; window.ran = () => { window.__ran += 1; };');
  app.reply({ text: 'Ready.' }, ...texts.map(([, text]) => ({ text })), { text: 'That was all.' });
  await app.send('Ready?');
  await app.expectSaid('Ready.');
  // The other texts are sent through another door; the window shows each answer as it grows.
  const claw = await app.claw();
  const { sessions } = await claw.op('session.list', {});
  const sessionId = sessions[0]?.sessionId ?? '';
  for (const [name] of [...texts, ['the end']]) {
    const { turnId } = await claw.op('message.send', { text: `Say ${name ?? ''}`, sessionId });
    expect((await claw.op('turn.wait', { turnId })).status).toBe('done');
  }
  // The answers arrive faster than the window draws them, and some are a megabyte long, so the window gets time to catch up.
  await app.conversation.getByText('That was all.', { exact: true }).waitFor({ timeout: 90_000 });
  // Wait a frame and an event-loop turn for handlers of failed loads.
  const ran = await app.page.evaluate<number>(
    'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(window.__ran), 100)))',
  );
  expect({ ran, outside: requests.filter((url) => !/^(?:http:..trayclaw.app.localhost|app:..trayclaw|data:)/.test(url)) }).toEqual({
    ran: 0,
    outside: [],
  });
  const { windows, openedLinks, dialogs } = await app.driver.desk();
  expect({ urls: windows.map(({ url }) => url.replace(/[?#].*/, '')), openedLinks, dialogs }).toEqual({
    urls: ['app://trayclaw/'],
    openedLinks: [],
    dialogs: [],
  });
  expect(app.driver.errorOutput).toBe('');
});

test('clicking each of their links opens at most web pages and mail', async () => {
  const hrefs = await app.conversation
    .locator('.document a[href]')
    .evaluateAll((links) => [...new Set(links.map((link) => (link as unknown as { href: string }).href))]);
  expect(hrefs.length).toBeGreaterThan(0);
  const answers = await app.page.evaluate<boolean[]>(`Promise.all(${JSON.stringify(hrefs)}.map((href) => trayclaw.openLink(href)))`);
  await app.page.evaluate(`for (const link of document.querySelectorAll('[role=log] .document a[href]')) link.click()`);
  const { windows, openedLinks } = await app.driver.desk();
  expect(answers).toEqual(hrefs.map((href) => openableLink(href) !== null));
  expect([openedLinks.filter((url) => openableLink(url) !== url), windows.length]).toEqual([[], 1]);
  expect(await app.message.isVisible()).toBe(true);
});
