// Lets the test operate the stand-in over the channel between parent and child process: inspect what is shown, press, click, answer.

import { runInThisContext } from 'node:vm';
import type * as Electron from 'electron';
import type { MenuItemConstructorOptions } from 'electron';
import * as electron from './electron.ts';
import { app } from './app.ts';
import { windows, type BrowserWindow } from './browser-window.ts';
import type { ForeignSender } from './web-contents.ts';
import { handledChannels, type Reply } from './ipc-main.ts';
import { dialogs, errorBoxes, nativeTheme, notifications, openedLinks, permissions, pressKeys, tellPower, trays } from './native.ts';

/** The desktop as a person sees it. */
export interface Desk {
  /** The address at which its pages can be inspected, once it runs. */
  readonly chromium: { readonly address: string } | null;
  readonly tray: { toolTip: string; menu: MenuEntry[]; image: { width: number; png: string }[] } | null;
  readonly dialogs: { id: number; message: string; detail: string; buttons: string[]; defaultId: number; cancelId: number }[];
  readonly notifications: { title: string; body: string; actions: string[] }[];
  readonly errorBoxes: { title: string; content: string }[];
  readonly windows: { title: string; isVisible: boolean; isFocused: boolean; url: string; preferences: Record<string, unknown> }[];
  readonly openedLinks: string[];
  readonly channels: string[];
  readonly protocolClients: string[];
}

export interface MenuEntry {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly checked: boolean;
}

const actions = {
  desk,
  clickMenu: (id: string): boolean => {
    const item = trays[0]?.menu?.items.find((entry) => entry.id === id);
    if (item === undefined || item.enabled === false) return false;
    const clicked = { ...item, checked: item.type === 'checkbox' ? item.checked !== true : item.checked };
    (item.click as ((clicked: unknown) => void) | undefined)?.(clicked);
    return true;
  },
  clickTray: (): boolean => trays[0]?.emit('click') ?? false,
  answerDialog: (id: number, button: string): boolean => {
    const open = dialogs.find((one) => one.id === id);
    const response = open?.options.buttons?.indexOf(button) ?? -1;
    if (open === undefined || response < 0) return false;
    open.answer(response);
    return true;
  },
  dismissDialog: (id: number): boolean => {
    const open = dialogs.find((one) => one.id === id);
    open?.cancel();
    return open !== undefined;
  },
  clickNotification: (index: number): boolean => notifications[index]?.emit('click', {}) ?? false,
  actOnNotification: (index: number, text: string): boolean => {
    const notice = notifications[index];
    const actionIndex = notice?.options.actions?.findIndex((action) => action.text === text) ?? -1;
    return actionIndex >= 0 && (notice?.emit('action', { actionIndex }, actionIndex) ?? false);
  },
  failNotification: (index: number): void => notifications[index]?.fail('no notification service'),
  pressKeys,
  power: tellPower,
  dark: (isDark: boolean): boolean => {
    nativeTheme.shouldUseDarkColors = isDark;
    return nativeTheme.emit('updated');
  },
  openUrl: (url: string): boolean => app.emit('open-url', { preventDefault: () => undefined }, url),
  window: (call: 'close' | 'minimize' | 'blur' | 'focus' | 'show'): void => {
    first()?.[call]();
  },
  bounds: (bounds: { x: number; y: number; width: number; height: number }): void => first()?.setBounds(bounds),
  /** Really crashes the page's process. */
  crashPage: (): Promise<void> | undefined => first()?.webContents.crash(),
  closeNotification: (index: number): void => notifications[index]?.close(),
  sendAs: (channel: string, args: unknown[], from: ForeignSender): Promise<Reply> | undefined =>
    first()?.webContents.receive(channel, args, from),
  /** Runs a function in the main process, as Playwright's ElectronApplication.evaluate does. */
  evaluate: (source: string, argument: unknown): unknown =>
    (runInThisContext(`(${source})`) as (modules: typeof electron, argument: unknown) => unknown)(electron, argument),
  permission: (name: string): Promise<boolean> =>
    new Promise((resolve) => {
      const contents = first()?.webContents;
      if (permissions.ask === null || contents === undefined) resolve(true);
      else
        permissions.ask(contents as unknown as Electron.WebContents, name as 'media', resolve, {
          isMainFrame: true,
          requestingUrl: contents.getURL(),
        });
    }),
  quit: (): void => {
    // Delayed, so that the answer to this call is sent first.
    setImmediate(() => app.quit());
  },
};

export type Actions = typeof actions;

function first(): BrowserWindow | undefined {
  return [...windows][0];
}

function desk(): Desk {
  const tray = trays[0];
  return {
    chromium: app.chromium,
    tray:
      tray === undefined
        ? null
        : {
            toolTip: tray.toolTip,
            menu: (tray.menu?.items ?? []).map(entryOf),
            image: tray.image.representations.map(({ width, png }) => ({ width, png })),
          },
    dialogs: dialogs.map(({ id, options }) => ({
      id,
      message: options.message,
      detail: options.detail ?? '',
      buttons: options.buttons ?? [],
      defaultId: options.defaultId ?? 0,
      cancelId: options.cancelId ?? 0,
    })),
    notifications: notifications.map(({ options }) => ({
      title: options.title ?? '',
      body: options.body ?? '',
      actions: (options.actions ?? []).map((action) => action.text ?? ''),
    })),
    errorBoxes: [...errorBoxes],
    windows: [...windows].map((window) => ({
      title: window.title,
      isVisible: window.isVisible(),
      isFocused: window.isFocused(),
      url: window.webContents.getURL(),
      preferences: { ...window.options.webPreferences },
    })),
    openedLinks: [...openedLinks],
    channels: handledChannels(),
    protocolClients: [...app.protocolClients],
  };
}

function entryOf(item: MenuItemConstructorOptions): MenuEntry {
  return {
    id: item.id ?? '',
    label: item.label ?? '',
    type: item.type ?? 'normal',
    enabled: item.enabled ?? true,
    checked: item.checked ?? false,
  };
}

interface Request {
  readonly id: number;
  readonly action: keyof Actions;
  readonly args: unknown[];
}

/** Answers requests of the process that started this one. */
export function listenToTest(): void {
  process.on('message', (message: Request) => {
    const action = actions[message.action] as (...args: unknown[]) => unknown;
    void Promise.resolve()
      .then(() => action(...message.args))
      .then(
        (value) => process.send?.({ id: message.id, value }),
        (cause: unknown) => process.send?.({ id: message.id, error: String(cause) }),
      );
  });
}
