// Who may speak to the shell: the window's own page, its top frame, and nobody else, on every channel.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { askChannels } from '../../core/contracts/desktop-channels.ts';
import { DesktopUnderTest } from './desktop-rig.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

const own = { url: 'app://trayclaw/', isTopFrame: true, isOwn: true };
const fitting: Readonly<Record<string, unknown>> = {
  [askChannels.op]: { name: 'health.check', params: {} },
  [askChannels.follow]: { followId: 7, after: 'latest' },
  [askChannels.unfollow]: { followId: 7 },
  [askChannels.ready]: {},
};

test('every channel there is is one of the four', async () => {
  expect((await app.driver.desk()).channels.toSorted()).toEqual(Object.values(askChannels).toSorted());
});

const foreign = {
  'a frame inside the page': { ...own, isTopFrame: false },
  'a foreign frame inside the page': { ...own, isTopFrame: false, url: 'https://outside.invalid/' },
  'another window with the same address': { ...own, isOwn: false },
  'another top frame of the same address': own,
  'a foreign address': { ...own, url: 'https://outside.invalid/' },
  'an address that looks like ours': { ...own, url: 'app://trayclaw.outside.invalid/' },
  'a frame that is gone': { ...own, isGone: true },
};
test.each(Object.entries(foreign))('%s is refused on every channel', async (_name, from) => {
  for (const channel of Object.values(askChannels)) {
    await expect(app.driver.sendAs(channel, [fitting[channel]], from)).rejects.toThrow('This page may not talk to TrayClaw.');
  }
});

test('a second window with the same preload script, real, is refused on every channel', async () => {
  const results = await app.driver.evaluate(async ({ BrowserWindow }) => {
    const [main] = BrowserWindow.getAllWindows();
    const preload =
      (main as unknown as { options?: { webPreferences?: { preload?: string } } }).options?.webPreferences?.preload ?? 'dist/preload.cjs';
    const other = new BrowserWindow({ show: false, webPreferences: { preload, sandbox: true, contextIsolation: true } });
    await other.loadURL('app://trayclaw/');
    const page = (other.webContents as unknown as { page?: { evaluate(source: string): Promise<unknown> } }).page ?? {
      evaluate: (source: string) => other.webContents.executeJavaScript(source),
    };
    const said = await page.evaluate(
      `Promise.all([trayclaw.op('health.check', {}), trayclaw.ready()].map((one) => one.then(() => 'answered', (cause) => cause.message)))`,
    );
    other.destroy();
    return said as string[];
  }, null);
  expect(results.map((text) => text.replace(/^Error invoking remote method '[^']+': /, ''))).toEqual(
    Array(2).fill('AppError: This page may not talk to TrayClaw.'),
  );
});
