// The app's life with one data folder: first start, work behind a closed window, second start, links, login, crashes, restart, quit.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { commandsRunning, DesktopUnderTest } from './desktop-rig.ts';

const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

let app: DesktopUnderTest;
beforeAll(async () => {
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

const isShown = (): Promise<void> => app.deskShows((desk) => desk.windows[0]?.isVisible, true);
const firstApprovalIn = async (): Promise<string> => {
  const claw = await app.claw();
  return (await claw.op('approval.list', {})).approvals[0]?.approvalId ?? '';
};

test('first start: one window of 1180 by 780 in front, an idle tray, no dialogs', async () => {
  const { windows, tray, dialogs, errorBoxes, protocolClients } = await app.driver.desk();
  expect(windows.map(({ title, isVisible, isFocused }) => ({ title, isVisible, isFocused }))).toEqual([
    { title: 'TrayClaw', isVisible: true, isFocused: true },
  ]);
  expect(tray?.toolTip).toBe('TrayClaw');
  expect(tray?.menu.filter((entry) => entry.type !== 'separator').map((entry) => entry.id)).toEqual(
    expect.arrayContaining(['open', 'no-approvals', 'panic', 'login-start', 'quit']),
  );
  expect({ dialogs, errorBoxes, protocolClients }).toEqual({ dialogs: [], errorBoxes: [], protocolClients: ['trayclaw'] });
  expect(await app.page.evaluate('[innerWidth, innerHeight]')).toEqual([1180, 780]);
});

test('chat: a message is answered', async () => {
  app.reply({ text: 'Good day.' });
  await app.send('Hello');
  await app.expectSaid('Good day.');
});

test('closing the window hides it, a turn finishes meanwhile, the tray shows it again', async () => {
  const seen = Promise.withResolvers<void>();
  app.reply({ text: 'Finished behind it.', holds: [{ afterFrames: 1, until: seen.promise }] });
  await app.send('Go on');
  await app.driver.window('close');
  await app.deskShows((desk) => [desk.windows[0]?.isVisible, desk.tray?.toolTip], [false, 'TrayClaw: working']);
  expect(await app.page.evaluate('document.visibilityState')).toBe('hidden');
  seen.resolve();
  await app.deskShows((desk) => desk.tray?.toolTip, 'TrayClaw');
  expect(await app.driver.clickMenu('open')).toBe(true);
  await isShown();
  await app.expectSaid('Finished behind it.');
});

test('a second start shows the window of the first and exits', async () => {
  await app.driver.window('close');
  await app.deskShows((desk) => desk.windows[0]?.isVisible, false);
  expect(await app.driver.secondInstance([])).toBe(0);
  await isShown();
  expect((await app.driver.desk()).windows).toHaveLength(1);
});

test('a link opens its place and does nothing else', async () => {
  await app.driver.secondInstance(['trayclaw://settings']);
  await app.page.getByRole('heading', { name: 'Settings', exact: true }).first().waitFor();
  const { sessions } = await (await app.claw()).op('session.list', {});
  await app.driver.secondInstance([`trayclaw://session/${sessions[0]?.sessionId ?? ''}`]);
  await app.expectSaid('Good day.');
});

test('hostile links open nothing', async () => {
  const url = app.page.url();
  const hostile = [
    'trayclaw://panic',
    'trayclaw://session/../../etc/passwd',
    'trayclaw://approval/apr_1?decision=approve',
    'trayclaw://settings/?key=policy.rules#x',
    'trayclaw://user@settings',
    `trayclaw://session/ses_${'A'.repeat(4000)}`,
    'trayclaw://javascript:alert(1)',
  ];
  for (const link of hostile) {
    await app.driver.evaluate(({ app: main }, text) => main.emit('second-instance', {}, ['trayclaw', text], '/', undefined), link);
  }
  expect(app.page.url()).toBe(url);
  expect((await app.driver.desk()).dialogs).toEqual([]);
  expect((app.readFile('logs/trayclaw.log') ?? '').match(/leads nowhere/g)).toHaveLength(hostile.length);
});

test('start at login: the autostart file is created and removed, and the menu follows', async () => {
  const file = '.config/autostart/io.trayclaw.TrayClaw.desktop';
  expect(app.readFile(file)).toBe(null);
  expect(await app.driver.clickMenu('login-start')).toBe(true);
  expect(app.readFile(file)?.split('\n')).toEqual([
    '[Desktop Entry]',
    'Type=Application',
    'Name=TrayClaw',
    `Exec=${process.execPath} ${projectRoot}dist/desktop.js --home=${app.home} --background`,
    'Terminal=false',
    'Hidden=false',
    '',
  ]);
  const checked = (): Promise<void> => app.deskShows((desk) => desk.tray?.menu.find((entry) => entry.id === 'login-start')?.checked, true);
  await checked();
  expect(await app.driver.clickMenu('login-start')).toBe(true);
  expect(app.readFile(file)).toBe(null);
  await app.deskShows((desk) => desk.tray?.menu.find((entry) => entry.id === 'login-start')?.checked, false);
});

test('a crashed page is reloaded twice; then a dialog asks, and the tray still works', async () => {
  const pid = app.driver.pid;
  app.reply({ text: 'Unhurt.', firstDelayMs: 400 });
  await app.send('Before the crash');
  await app.driver.crashPage();
  await app.usable();
  await app.expectSaid('Unhurt.');
  await app.driver.crashPage();
  await app.usable();
  await app.driver.crashPage();
  await app.deskShows(
    (desk) => desk.dialogs.map(({ message, buttons, defaultId, cancelId }) => [message, buttons, defaultId, cancelId]),
    [['The window keeps failing.', ['Leave it closed', 'Try again'], 1, 0]],
  );
  expect(await app.driver.answerDialog('Leave it closed')).toBe(true);
  await app.deskShows((desk) => [desk.dialogs.length, desk.windows.length], [0, 0]);
  expect(await app.driver.clickMenu('open')).toBe(true);
  await app.usable();
  await app.expectSaid('Unhurt.');
  expect(app.driver.pid).toBe(pid);
});

test('a pending approval survives a restart, and its answer continues the turn', async () => {
  app.reply({ calls: [{ tool: 'write_file', args: { path: 'after.md', content: 'x' } }] }, { text: 'Written after the restart.' });
  await app.send('Write it');
  await app.approval.waitFor();
  const asked = await firstApprovalIn();
  expect(await app.quit()).toBe(0);
  await app.launch({ args: ['--background'] });
  await expect.poll(() => app.driver.desk().then((desk) => desk.dialogs.length)).toBe(1);
  expect(await firstApprovalIn()).toBe(asked);
  expect((await app.driver.desk()).windows.filter((window) => window.isVisible)).toEqual([]);
  await app.driver.answerDialog('Approve once');
  await expect.poll(() => app.readFile('workspace/after.md')).toBe('x');
  await app.driver.clickMenu('open');
  await app.usable();
  await app.expectSaid('Written after the restart.');
});

test('the session ends while idle: the app quits, and the next start is not stopped', async () => {
  // The app may have exited before it can confirm.
  await app.driver.power('shutdown').catch(() => undefined);
  expect(await app.driver.exited).toBe(0);
  await app.driver.kill();
  await app.launch();
  await app.usable();
  expect(await (await app.claw()).op('panic.status', {})).toMatchObject({ engaged: false });
});

async function workUntilStopped(end: () => Promise<unknown>): Promise<void> {
  app.reply({ firstDelayMs: 60_000, text: 'Too late.' });
  const asked = app.model.requests.length;
  const claw = await app.claw();
  const { turnId } = await claw.op('message.send', { text: 'Work' });
  await expect.poll(async () => (await claw.op('turn.get', { turnId })).status).toBe('running');
  await app.deskShows((desk) => desk.tray?.toolTip, 'TrayClaw: working');
  // Or else the answer would be left for the next turn.
  await expect.poll(() => app.model.requests.length).toBeGreaterThan(asked);
  await end().catch(() => undefined);
}

/** The reason of the stop that the next start finds, which it releases. */
async function stopFoundNext(): Promise<string | null> {
  await app.driver.kill();
  await app.launch();
  await app.usable();
  const claw = await app.claw();
  const { reason } = await claw.op('panic.status', {});
  await claw.op('panic.release', {});
  return reason;
}

test('the session ends during work: the work is stopped, the app quits, and the next start waits for a person', async () => {
  await workUntilStopped(() => app.driver.power('shutdown'));
  expect(await app.driver.exited).toBe(0);
  expect(await stopFoundNext()).toBe('Pressed: the end of the session.');
});

// Electron's native_window_views_win.cc: "The OS kills us and our child processes right after this returns".
test('the stop is recorded before Windows ends the app, right after session-end', async () => {
  await workUntilStopped(() =>
    app.driver.evaluate(({ BrowserWindow }) => {
      BrowserWindow.getAllWindows()[0]?.emit('session-end', {});
      setImmediate(() => process.kill(process.pid, 'SIGKILL'));
    }, null),
  );
  await app.driver.exited;
  expect(await stopFoundNext()).toBe('Pressed: the end of the session.');
});

test('quitting during a tool call asks first; the turn continues at the next start', async () => {
  app.reply({ calls: [{ tool: 'exec', args: { command: 'sleep 5432' } }] }, { text: 'Went on.' });
  await app.send('Sleep');
  await app.approval.getByRole('button', { name: 'Approve once' }).click();
  await expect.poll(() => commandsRunning('sleep 5432', app)).toBeGreaterThan(0);
  await app.driver.clickMenu('quit');
  await app.deskShows(
    (desk) => desk.dialogs.map(({ buttons, defaultId, cancelId }) => [buttons, defaultId, cancelId]),
    [[['Keep running', 'Quit'], 0, 0]],
  );
  await app.driver.dismissDialog();
  await app.deskShows((desk) => desk.dialogs, []);
  expect(await commandsRunning('sleep 5432', app)).toBeGreaterThan(0);
  await app.driver.clickMenu('quit');
  await app.deskShows((desk) => desk.dialogs.length, 1);
  // The app may have exited before it can confirm the click.
  await app.driver.answerDialog('Quit').catch(() => undefined);
  expect(await app.driver.exited).toBe(0);
  expect(await commandsRunning('sleep 5432', app)).toBe(0);
  await app.driver.kill();
  await app.launch();
  await app.usable();
  // The end of the call is recorded, so its outcome is not unknown.
  const claw = await app.claw();
  expect((await claw.op('outcome.list', {})).outcomes).toEqual([]);
  await app.expectSaid('Went on.');
});

test('a start by a link opens its place at once', async () => {
  expect(await app.quit()).toBe(0);
  await app.launch({ args: ['trayclaw://settings'] });
  await app.pageShows();
  await app.page.getByRole('heading', { name: 'Settings', exact: true }).first().waitFor();
  await isShown();
});

test('a second start with --quit ends the first one in order', async () => {
  expect(await app.driver.secondInstance(['--quit'])).toBe(0);
  expect(await app.driver.exited).toBe(0);
  // Nothing may be opened without a person.
  expect(await app.driver.secondInstance(['--quit'])).toBe(0);
});
