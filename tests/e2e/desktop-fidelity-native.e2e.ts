// Dialogs, notifications, tray, shortcuts and power as Electron documents them, on whichever Electron the desktop specs use.

import { afterAll, beforeAll, expect } from 'vitest';
import { documented } from '../electron/documented.ts';
import { Probe } from './desktop-fidelity-rig.ts';

let probe: Probe;
beforeAll(async () => {
  probe = await Probe.start();
});
afterAll(() => probe.close());

documented(
  'a message box that its signal closes answers as if it was cancelled',
  'Pass an instance of AbortSignal to optionally close the message box, the message box will behave as if it was cancelled by the user.',
  async () => {
    const responses = await probe.driver.evaluate(async ({ dialog }) => {
      const closing = new AbortController();
      const options = { message: 'x', buttons: ['a', 'b', 'c'], cancelId: 2, signal: closing.signal };
      const open = dialog.showMessageBox(options);
      closing.abort();
      return [await open, await dialog.showMessageBox(options)];
    }, null);
    expect(responses).toEqual([
      { response: 2, checkboxChecked: false },
      { response: 2, checkboxChecked: false },
    ]);
    expect((await probe.driver.desk()).dialogs).toEqual([]);
  },
);

documented(
  'Escape answers with cancelId; without one, with the first button called cancel or no; without such, with 0',
  'By default this is assigned to the first button with "cancel" or "no" as the label. If no such labeled buttons exist and this option is not set, `0` will be used as the return value.',
  async () => {
    const answers: unknown[] = [];
    for (const options of [{ buttons: ['a', 'b'], cancelId: 1 }, { buttons: ['Yes', 'No'] }, { buttons: ['a', 'b'] }]) {
      const answer = probe.driver.evaluate(({ dialog }, asked) => dialog.showMessageBox({ message: 'x', ...asked }), options);
      await expect.poll(async () => (await probe.driver.desk()).dialogs.length).toBe(1);
      await probe.driver.dismissDialog();
      answers.push((await answer).response);
    }
    expect(answers).toEqual([1, 1, 0]);
  },
);

documented(
  'defaultId is kept, and a pressed button answers with its index',
  'Index of the button in the buttons array which will be selected by default when the message box opens.',
  async () => {
    const options = { message: 'Which', detail: 'of them', buttons: ['a', 'b', 'c'], defaultId: 1, cancelId: 0 };
    const answer = probe.driver.evaluate(({ dialog }, asked) => dialog.showMessageBox(asked), options);
    await expect.poll(async () => (await probe.driver.desk()).dialogs).toEqual([{ ...options, id: expect.any(Number) as number }]);
    expect(await probe.driver.answerDialog('nowhere')).toBe(false);
    expect(await probe.driver.answerDialog('c')).toBe(true);
    expect((await answer).response).toBe(2);
  },
);

/** Keeps the notification and its events in the main process. */
function makeNotification(): Promise<void> {
  return probe.driver.evaluate(({ Notification }) => {
    const events: unknown[] = [];
    const notice = new Notification({ title: 'Title', body: 'Body', actions: [{ type: 'button', text: 'Do' }] });
    notice.on('show', () => events.push('show'));
    notice.on('click', () => events.push('click'));
    notice.on('close', () => events.push('close'));
    notice.on('action', (details) => events.push(['action', details.actionIndex]));
    notice.on('failed', (_event, error) => events.push(['failed', error]));
    Object.assign(globalThis, { notice, events });
  }, null);
}
const noticed = (call: 'show' | 'close' | null): Promise<unknown[]> =>
  probe.driver.evaluate(async (_electron, name) => {
    const { notice, events } = globalThis as unknown as { notice: { show(): void; close(): void }; events: unknown[] };
    if (name !== null) notice[name]();
    await new Promise((resolve) => setImmediate(resolve));
    return events.splice(0);
  }, call);

documented(
  'a notification is there once it is shown, can be clicked and acted on, and goes with close',
  'Unlike the web notification API, instantiating a `new Notification()` does not immediately show it to the user. Instead, you need to call this method before the OS will display it.',
  async () => {
    await makeNotification();
    expect((await probe.driver.desk()).notifications).toEqual([]);
    expect(await noticed('show')).toEqual(['show']);
    expect((await probe.driver.desk()).notifications).toEqual([{ title: 'Title', body: 'Body', actions: ['Do'] }]);
    await probe.driver.clickNotification(0);
    expect(await probe.driver.actOnNotification(0, 'Do')).toBe(true);
    expect(await noticed(null)).toEqual(['click', ['action', 0]]);
    expect(await noticed('close')).toEqual(['close']);
    expect((await probe.driver.desk()).notifications).toEqual([]);
  },
);

documented(
  'shown a second time, it says so again and is still one; a failure takes it away',
  'Emitted when the notification is shown to the user. Note that this event can be fired multiple times as a notification can be shown multiple times through the `show()` method.',
  async () => {
    await makeNotification();
    expect([await noticed('show'), await noticed('show')]).toEqual([['show'], ['show']]);
    expect((await probe.driver.desk()).notifications).toHaveLength(1);
    await probe.driver.failNotification(0);
    expect(await noticed(null)).toEqual([['failed', 'no notification service']]);
    expect((await probe.driver.desk()).notifications).toEqual([]);
  },
);

documented(
  'a tray has the menu that was set last; what changes in it later is not seen; destroyed, it throws',
  'Sets the context menu for this icon.',
  async () => {
    const destroyed = await probe.driver.evaluate(async ({ Menu, nativeImage, Tray }) => {
      const tray = new Tray(nativeImage.createEmpty());
      const menu = Menu.buildFromTemplate([{ id: 'one', label: 'One' }]);
      tray.setToolTip('Tip');
      tray.setContextMenu(menu);
      const [item] = menu.items;
      if (item !== undefined) item.label = 'Changed';
      Object.assign(globalThis, { tray });
      return tray.isDestroyed();
    }, null);
    expect(destroyed).toBe(false);
    const { tray } = await probe.driver.desk();
    expect([tray?.toolTip, tray?.menu.map(({ id, label }) => [id, label])]).toEqual(['Tip', [['one', 'One']]]);
    const after = await probe.driver.evaluate(() => {
      const { tray: own } = globalThis as unknown as { tray: { destroy(): void; isDestroyed(): boolean; setToolTip(text: string): void } };
      own.destroy();
      try {
        own.setToolTip('x');
        return 'allowed';
      } catch (cause) {
        return [own.isDestroyed(), (cause as Error).message];
      }
    }, null);
    expect(after).toEqual([true, 'Tray is destroyed']);
    expect((await probe.driver.desk()).tray).toBe(null);
  },
);

documented(
  'a checkbox of a menu is pressed before its click is told; a disabled entry cannot be pressed',
  'Will be called with `click(menuItem, window, event)` when the menu item is clicked.',
  async () => {
    await probe.driver.evaluate(({ Menu, nativeImage, Tray }) => {
      const seen: boolean[] = [];
      const tray = new Tray(nativeImage.createEmpty());
      const click = (item: { checked: boolean }): void => void seen.push(item.checked);
      tray.setContextMenu(
        Menu.buildFromTemplate([
          { id: 'box', label: 'Box', type: 'checkbox', checked: false, click },
          { id: 'off', label: 'Off', enabled: false, click },
        ]),
      );
      Object.assign(globalThis, { tray, seen });
    }, null);
    expect([await probe.driver.clickMenu('box'), await probe.driver.clickMenu('off'), await probe.driver.clickMenu('none')]).toEqual([
      true,
      false,
      false,
    ]);
    const seen = await probe.driver.evaluate(() => {
      const { tray, seen: checked } = globalThis as unknown as { tray: { destroy(): void }; seen: boolean[] };
      tray.destroy();
      return checked;
    }, null);
    expect(seen).toEqual([true]);
  },
);

documented(
  'a taken shortcut is refused with false, its presses reach the first who had it, and it can be had again once given back',
  'When the accelerator is already taken by other applications, this call will silently fail.',
  async () => {
    const keys = 'CommandOrControl+Alt+J';
    const register = (): Promise<unknown> =>
      probe.driver.evaluate(({ globalShortcut }, accelerator) => {
        const state = globalThis as unknown as { presses?: number };
        const pressed = (): void => void (state.presses = (state.presses ?? 0) + 1);
        return [globalShortcut.register(accelerator, pressed), globalShortcut.isRegistered(accelerator)];
      }, keys);
    expect(await register()).toEqual([true, true]);
    expect(await register()).toEqual([false, true]);
    expect(await probe.driver.pressKeys(keys)).toBe(true);
    expect(await probe.driver.evaluate(() => (globalThis as unknown as { presses?: number }).presses, null)).toBe(1);
    await probe.driver.evaluate(({ globalShortcut }, accelerator) => globalShortcut.unregister(accelerator), keys);
    expect(await probe.driver.pressKeys(keys)).toBe(false);
    expect(await register()).toEqual([true, true]);
    const odd = probe.driver.evaluate(({ globalShortcut }) => globalShortcut.register('no keys', () => undefined), null);
    await expect(odd).rejects.toThrow('conversion failure');
  },
);

documented('sleep, wake and the end of the session are events', 'Emitted when the system is suspending.', async () => {
  await probe.driver.evaluate(({ powerMonitor }) => {
    const told: string[] = [];
    powerMonitor.on('suspend', () => told.push('suspend'));
    powerMonitor.on('resume', () => told.push('resume'));
    powerMonitor.on('shutdown', (event?: { preventDefault(): void }) => {
      event?.preventDefault();
      told.push('shutdown');
    });
    Object.assign(globalThis, { told });
  }, null);
  for (const event of ['suspend', 'resume', 'shutdown'] as const) await probe.driver.power(event);
  expect(await probe.driver.evaluate(() => (globalThis as unknown as { told: string[] }).told, null)).toEqual([
    'suspend',
    'resume',
    'shutdown',
  ]);
});

documented(
  'what is opened outside is handed to the system, and an image knows what was put into it',
  "Open the given external protocol URL in the desktop's default manner.",
  async () => {
    const image = await probe.driver.evaluate(async ({ nativeImage, shell }) => {
      await shell.openExternal('mailto:someone@example.org');
      const empty = nativeImage.createEmpty();
      const was = [empty.isEmpty(), empty.isTemplateImage()];
      empty.setTemplateImage(true);
      return [...was, empty.isTemplateImage()];
    }, null);
    expect(image).toEqual([true, false, true]);
    expect((await probe.driver.desk()).openedLinks).toEqual(['mailto:someone@example.org']);
  },
);

documented('a switch is there with and without a value', 'Whether the command-line switch is present.', async () => {
  const seen = await probe.driver.evaluate(
    ({ app }) => [app.commandLine.hasSwitch('home'), app.commandLine.getSwitchValue('home'), app.commandLine.hasSwitch('hom')],
    null,
  );
  expect(seen).toEqual([true, probe.home, false]);
});
