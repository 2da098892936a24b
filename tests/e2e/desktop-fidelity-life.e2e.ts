// An app's life as Electron documents it, on whichever Electron the desktop specs use: readiness, single instance, and the order of
// quitting.

import { expect, onTestFinished } from 'vitest';
import { documented } from '../electron/documented.ts';
import { Probe } from './desktop-fidelity-rig.ts';

async function started(...args: string[]): Promise<Probe> {
  const probe = await Probe.start(...args);
  onTestFinished(() => probe.close());
  return probe;
}

documented(
  'the main script runs first, then ready; parts that need it say so before',
  'The `ready` event is only fired after the main process has finished running the first tick of the event loop.',
  async () => {
    const probe = await started();
    expect(probe.events).toEqual([
      'no such folder',
      'ready at the start: false',
      'early BrowserWindow: Cannot create BrowserWindow before app is ready',
      'early Tray: Cannot create Tray before app is ready',
      'early Notification: Cannot create Notification before app is ready',
      'early dialog: dialog module can only be used after app is ready',
      'early globalShortcut: globalShortcut cannot be used before the app is ready',
      "early screen: The 'screen' module can't be used before the app 'ready' event",
      'early utilityProcess: utilityProcess cannot be created before app is ready.',
      'ready',
      'when ready',
    ]);
    const late = await probe.driver.evaluate(({ app, protocol }) => {
      const messageOf = (work: () => void): string => {
        try {
          work();
          return 'allowed';
        } catch (cause) {
          return (cause as Error).message;
        }
      };
      return [messageOf(() => app.enableSandbox()), messageOf(() => protocol.registerSchemesAsPrivileged([]))];
    }, null);
    expect(late).toEqual([
      'app.enableSandbox() can only be called before app is ready',
      'protocol.registerSchemesAsPrivileged should be called before app is ready',
    ]);
  },
);

documented(
  'a folder that does not exist is not taken for its files',
  'If the path specifies a directory that does not exist, an `Error` is thrown.',
  async () => {
    const probe = await started();
    expect(probe.events[0]).toBe('no such folder');
  },
);

documented(
  'an error box before ready goes to the error output and holds nothing up',
  'If called before the app `ready` event on Linux, the message will be emitted to stderr, and no GUI dialog will appear.',
  async () => {
    const probe = await started();
    expect(probe.driver.errorOutput).toContain('said on the error output');
  },
);

documented(
  'quit: before-quit, then the windows, then will-quit, then quit; window-all-closed is left out',
  'Electron will first try to close all the windows and then emit the `will-quit` event, and in this case the `window-all-closed` event would not be emitted.',
  async () => {
    const probe = await started();
    const count = await probe.driver.evaluate(({ BrowserWindow }) => {
      const two = [new BrowserWindow({ show: false }), new BrowserWindow({ show: false })];
      return two.filter((window) => !window.isDestroyed()).length;
    }, null);
    expect(count).toBe(2);
    await probe.driver.quit();
    expect(await probe.driver.exited).toBe(0);
    expect(probe.eventsSinceReady).toEqual(['before-quit', 'will-quit', 'quit 0']);
  },
);

documented(
  'before-quit can be prevented: the app stays; exit then ends it at once with its code and without asking',
  'All windows will be closed immediately without asking the user, and the `before-quit` and `will-quit` events will not be emitted.',
  async () => {
    const probe = await started('--prevent=before-quit');
    await probe.driver.quit();
    expect(await probe.driver.evaluate(({ app }) => app.isReady(), null)).toBe(true);
    expect(probe.eventsSinceReady).toEqual(['before-quit']);
    await probe.driver.evaluate(({ app }) => void setImmediate(() => app.exit(7)), null);
    expect(await probe.driver.exited).toBe(7);
    expect(probe.eventsSinceReady).toEqual(['before-quit', 'quit 7']);
  },
);

documented(
  'will-quit can be prevented too, and a second quit goes through all of it again',
  'Calling `event.preventDefault()` will prevent the default behavior, which is terminating the application.',
  async () => {
    const probe = await started('--prevent=will-quit');
    await probe.driver.quit();
    expect(await probe.driver.evaluate(({ app }) => app.isReady(), null)).toBe(true);
    await probe.driver.quit();
    expect(await probe.driver.exited).toBe(0);
    expect(probe.eventsSinceReady).toEqual(['before-quit', 'will-quit', 'before-quit', 'will-quit', 'quit 0']);
  },
);

documented(
  'a window that stays open stops the quitting',
  'If all windows are successfully closed, the `will-quit` event will be emitted and by default the application will terminate.',
  async () => {
    const probe = await started();
    await probe.driver.evaluate(({ BrowserWindow }) => {
      const window = new BrowserWindow({ show: false });
      window.once('close', (event) => event.preventDefault());
    }, null);
    await probe.driver.quit();
    expect(await probe.driver.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length, null)).toBe(1);
    expect(probe.eventsSinceReady).toEqual(['before-quit']);
    await probe.driver.quit();
    expect(await probe.driver.exited).toBe(0);
  },
);

documented(
  'with the last window gone the app ends, unless it listens',
  'If you do not subscribe to this event and all windows are closed, the default behavior is to quit the app; however, if you subscribe, you control whether the app quits or not.',
  async () => {
    const listening = await started();
    const openAndClose = (probe: Probe): Promise<void> =>
      probe.driver.evaluate(({ BrowserWindow }) => {
        const window = new BrowserWindow({ show: false });
        // Delayed, so that the answer to this call is sent first.
        setTimeout(() => window.close(), 20);
      }, null);
    await openAndClose(listening);
    await expect.poll(() => listening.eventsSinceReady).toEqual(['window-all-closed']);
    const ending = await started('--default-end');
    await openAndClose(ending);
    expect(await ending.driver.exited).toBe(0);
    expect(ending.eventsSinceReady).toEqual(['before-quit', 'will-quit', 'quit 0']);
  },
);

documented(
  'a second process of the same folder is told no, ends, and the first is told of its arguments and data',
  "An instance is considered a second instance if it shares the same user data directory (`app.getPath('userData')`) as the primary instance (and on Windows, the same executable name).",
  async () => {
    const probe = await started('--once');
    expect(await probe.driver.secondInstance(['--once', 'trayclaw://chat'])).toBe(0);
    const [told] = probe.eventsSinceReady;
    expect(told).toBe(`second-instance true ${JSON.stringify([['trayclaw://chat'], process.cwd(), { from: 'the second', list: [1, 2] }])}`);
    expect(await probe.driver.evaluate(({ app }) => app.hasSingleInstanceLock(), null)).toBe(true);
  },
);
