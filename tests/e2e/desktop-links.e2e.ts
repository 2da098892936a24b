// Links out of the window: opened only by a person's click, and only web pages and mail.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { DesktopUnderTest } from './desktop-rig.ts';

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

const opened = async (): Promise<string[]> => (await app.driver.desk()).openedLinks;

/**
 * Runs code in a newly loaded page without user activation: a call through the driver's page would count as one. If an activation was still
 * in effect during the load, the page is loaded again.
 */
function runUntouched(code: string): Promise<unknown> {
  return app.driver.evaluate(async ({ BrowserWindow }, source) => {
    const contents = BrowserWindow.getAllWindows()[0]?.webContents;
    if (contents === undefined) throw new Error('there is no window');
    for (let load = 0; load < 20; load++) {
      const loaded = new Promise<void>((resolve) => contents.once('did-finish-load', () => resolve()));
      contents.reload();
      await loaded;
      const told = (await contents.executeJavaScript(
        `navigator.userActivation.isActive ? { isTouched: true } : Promise.resolve(${source}).then((value) => ({ value }))`,
      )) as { isTouched?: true; value?: unknown };
      if (told.isTouched !== true) return told.value;
    }
    throw new Error('the page was touched each time');
  }, code);
}

test('without a click nothing opens: bridge, window.open, or a scripted click', async () => {
  expect(await runUntouched(`trayclaw.openLink('https://example.org/')`)).toBe(false);
  expect(await runUntouched(`String(window.open('https://example.org/'))`)).toBe('null');
  const press = `(() => { const a = Object.assign(document.createElement('a'), { href: 'https://example.org/', target: '_blank' }); document.body.append(a); a.click(); })()`;
  await runUntouched(`(${press}, new Promise((resolve) => setTimeout(resolve, 50)))`);
  expect(await opened()).toEqual([]);
  await app.usable();
});

test('a click on a link of an answer opens it once, and never a new window', async () => {
  app.reply({ text: '[the page](https://example.org/page?a=1) and [a letter](mailto:someone@example.org)' });
  await app.send('Links');
  await app.conversation.getByRole('link', { name: 'the page' }).click();
  await app.deskShows((desk) => desk.openedLinks, ['https://example.org/page?a=1']);
  expect((await app.driver.desk()).windows).toHaveLength(1);
  expect(await app.message.isVisible()).toBe(true);
});

test('even with a click, only web pages and mail open, not programs or files', async () => {
  const before = await opened();
  const hostile = [
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'trayclaw://settings',
    'app://trayclaw/',
    'smb://outside.invalid/share',
    'ms-msdt:/id',
    'vscode://file/etc/passwd',
    'https://person:word@outside.invalid/',
    'https://outside.invalid/ --flag',
    'https://outside.invalid/\u202egpj',
    'mailto:a@b.c?attach=/etc/passwd',
    `https://outside.invalid/${'x'.repeat(3_000)}`,
    '',
  ];
  // A call through the driver counts as user activation.
  const answers = await app.page.evaluate<unknown[]>(
    `Promise.all([navigator.userActivation.isActive, ...${JSON.stringify(hostile)}.map((url) => trayclaw.openLink(url).catch(() => false))])`,
  );
  expect(answers).toEqual([true, ...hostile.map(() => false)]);
  expect(await opened()).toEqual(before);
});
