// Desktops that lack a feature, and unusable data folders: the app says so and continues, or says so and exits.

import { expect, onTestFinished, test } from 'vitest';
import { ServerProcess } from './host/server-process.ts';
import { DesktopUnderTest, panicKeys, type DesktopOptions } from './desktop-rig.ts';

async function prepared(options: DesktopOptions = {}): Promise<DesktopUnderTest> {
  const app = await DesktopUnderTest.prepare(options);
  onTestFinished(() => app.close());
  return app;
}

async function endsWithBox(app: DesktopUnderTest): Promise<{ code: number | null; log: string }> {
  await app.launch();
  return { code: await app.driver.exited, log: app.readFile('logs/trayclaw.log') ?? '' };
}

test('without tray, notifications and hotkey the window works and dialogs ask', async () => {
  const env = { TRAYCLAW_STANDIN_NO_TRAY: '1', TRAYCLAW_STANDIN_NO_NOTIFICATIONS: '1', TRAYCLAW_STANDIN_TAKEN_KEYS: panicKeys };
  const app = await prepared({ env });
  await app.launch();
  await app.usable();
  await app.deskShows(
    (desk) => [desk.tray, desk.dialogs.map(({ message, detail }) => [message, detail])],
    [null, [['The panic keys do not work', 'Another program has the keys Ctrl+Alt+Shift+Esc.']]],
  );
  await app.driver.dismissDialog();
  app.reply({ calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }] }, { text: 'All the same.' });
  await app.send('Write');
  await app.driver.window('close');
  await app.deskShows((desk) => [desk.dialogs.length, desk.notifications], [1, []]);
  await app.driver.answerDialog('Approve once');
  expect(await app.driver.secondInstance([])).toBe(0);
  await app.deskShows((desk) => desk.windows[0]?.isVisible, true);
  await app.expectSaid('All the same.');
});

test('without the sandbox of Chromium, as for the superuser, the window opens', async () => {
  const app = await prepared({ args: ['--no-sandbox'] });
  await app.launch();
  await app.usable();
  expect((await app.driver.desk()).windows[0]?.isVisible).toBe(true);
});

test('a broken config.yaml is named in a box, and the exit code is 1', async () => {
  const app = await prepared({ configText: 'models: [not: closed\n' });
  const { code, log } = await endsWithBox(app);
  expect(code).toBe(1);
  expect(log).toContain('config.yaml');
  expect(app.driver.errorOutput).toContain('TrayClaw could not start');
});

test('a folder in use by another process: a message and exit code 1', async () => {
  const app = await prepared();
  const server = await ServerProcess.start(app.home, 0);
  onTestFinished(() => server.stop('SIGTERM'));
  const { code } = await endsWithBox(app);
  expect(code).toBe(1);
  expect(app.driver.errorOutput).toContain('TrayClaw could not start');
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});
