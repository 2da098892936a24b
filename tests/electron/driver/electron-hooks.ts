// Runs inside real Electron's main process for the driver: native calls are recorded instead of drawn, and answered by the spec. Each
// function is sent as text, so it uses nothing from outside itself.

import type * as Electron from 'electron';
import type { Desk } from '../stand-in/control.ts';

interface OpenDialog {
  readonly id: number;
  readonly options: Electron.MessageBoxOptions;
  answer(response: number): void;
}

/** Stored on the main process's global object under `deskOfSpec`. */
interface Recorded {
  tray: Electron.Tray | null;
  toolTip: string;
  menu: Electron.Menu | null;
  readonly dialogs: OpenDialog[];
  readonly notifications: Electron.Notification[];
  readonly errorBoxes: { title: string; content: string }[];
  readonly keys: Map<string, () => void>;
  readonly openedLinks: string[];
}

export type NativeAct =
  | { readonly kind: 'click-tray' }
  | { readonly kind: 'dismiss-dialog' }
  | { readonly kind: 'click-menu'; readonly id: string }
  | { readonly kind: 'answer-dialog'; readonly button: string }
  | { readonly kind: 'click-notification'; readonly index: number }
  | { readonly kind: 'fail-notification'; readonly index: number }
  | { readonly kind: 'act-on-notification'; readonly index: number; readonly action: string }
  | { readonly kind: 'press-keys'; readonly accelerator: string };

export function installHooks({ dialog, globalShortcut, Notification, shell, Tray, nativeTheme }: typeof Electron): void {
  const recorded: Recorded = {
    tray: null,
    toolTip: '',
    menu: null,
    dialogs: [],
    notifications: [],
    errorBoxes: [],
    keys: new Map(),
    openedLinks: [],
  };
  Object.assign(globalThis, { deskOfSpec: recorded });
  let lastId = 0;
  const ask = (first: unknown, second?: Electron.MessageBoxOptions): Promise<Electron.MessageBoxReturnValue> =>
    new Promise((resolve) => {
      const options = second ?? (first as Electron.MessageBoxOptions);
      const id = (lastId += 1);
      const answer = (response: number): void => {
        const index = recorded.dialogs.findIndex((open) => open.id === id);
        if (index >= 0) recorded.dialogs.splice(index, 1);
        resolve({ response, checkboxChecked: false });
      };
      options.signal?.addEventListener('abort', () => answer(options.cancelId ?? 0), { once: true });
      if (options.signal?.aborted === true) answer(options.cancelId ?? 0);
      else recorded.dialogs.push({ id, options, answer });
    });
  dialog.showMessageBox = ask;
  dialog.showErrorBox = (title, content) => void recorded.errorBoxes.push({ title, content });
  shell.openExternal = async (url) => void recorded.openedLinks.push(url);
  const register = globalShortcut.register.bind(globalShortcut);
  globalShortcut.register = (accelerator, pressed) => {
    recorded.keys.set(accelerator, pressed);
    return register(accelerator, pressed);
  };
  const setContextMenu = Object.getOwnPropertyDescriptor(Tray.prototype, 'setContextMenu')?.value as (
    this: Electron.Tray,
    menu: Electron.Menu | null,
  ) => void;
  const setToolTip = Object.getOwnPropertyDescriptor(Tray.prototype, 'setToolTip')?.value as (this: Electron.Tray, text: string) => void;
  Tray.prototype.setContextMenu = function (menu) {
    recorded.tray = this;
    recorded.menu = menu;
    setContextMenu.call(this, menu);
  };
  Tray.prototype.setToolTip = function (text) {
    recorded.toolTip = text;
    setToolTip.call(this, text);
  };
  Notification.prototype.show = function () {
    recorded.notifications.push(this);
  };
  Notification.prototype.close = function () {
    const index = recorded.notifications.indexOf(this);
    if (index >= 0) recorded.notifications.splice(index, 1);
  };
  // Makes the app set again whatever it set before the hooks were installed.
  nativeTheme.emit('updated');
}

export function readDesk({ BrowserWindow, nativeImage }: typeof Electron): Desk {
  const { tray, toolTip, menu, dialogs, notifications, errorBoxes, openedLinks } = (globalThis as unknown as { deskOfSpec: Recorded })
    .deskOfSpec;
  // Electron does not expose a tray's image.
  const image = nativeImage.createEmpty();
  return {
    chromium: null,
    tray:
      tray === null
        ? null
        : {
            toolTip,
            menu: (menu?.items ?? []).map(({ id, label, type, enabled, checked }) => ({ id, label, type, enabled, checked })),
            image: image.isEmpty() ? [] : [{ width: image.getSize().width, png: image.toPNG().toString('base64') }],
          },
    dialogs: dialogs.map(({ id, options }) => ({
      id,
      message: options.message,
      detail: options.detail ?? '',
      buttons: options.buttons ?? [],
      defaultId: options.defaultId ?? 0,
      cancelId: options.cancelId ?? 0,
    })),
    notifications: notifications.map(({ title, body, actions }) => ({ title, body, actions: actions.map((action) => action.text ?? '') })),
    errorBoxes,
    windows: BrowserWindow.getAllWindows().map((window) => ({
      title: window.getTitle(),
      isVisible: window.isVisible(),
      isFocused: window.isFocused(),
      url: window.webContents.getURL(),
      preferences: {},
    })),
    openedLinks,
    channels: [],
    protocolClients: [],
  };
}

export function actOnNative({ app }: typeof Electron, act: NativeAct): boolean {
  const { tray, menu, dialogs, notifications, keys } = (globalThis as unknown as { deskOfSpec: Recorded }).deskOfSpec;
  const press = (item: Electron.MenuItem | null | undefined): boolean => {
    const isPressed = item?.enabled === true;
    if (isPressed) item.click();
    return isPressed;
  };
  const answer = (open: OpenDialog | undefined, response: number): boolean => {
    open?.answer(response);
    return open !== undefined;
  };
  const actions: { readonly [K in NativeAct['kind']]: (act: Extract<NativeAct, { kind: K }>) => boolean } = {
    'click-tray': () => tray?.emit('click') ?? false,
    'click-menu': ({ id }) => press(menu?.getMenuItemById(id)),
    'answer-dialog': ({ button }) => {
      const open = dialogs.find((one) => one.options.buttons?.includes(button) === true);
      return answer(open, open?.options.buttons?.indexOf(button) ?? 0);
    },
    'dismiss-dialog': () => answer(dialogs[0], dialogs[0]?.options.cancelId ?? 0),
    'click-notification': ({ index }) => notifications[index]?.emit('click', {}) ?? false,
    'fail-notification': ({ index }) => notifications[index]?.emit('failed', {}, 'no notification service') ?? false,
    'act-on-notification': ({ index, action }) => {
      const notice = notifications[index];
      const actionIndex = notice?.actions.findIndex((one) => one.text === action) ?? -1;
      return actionIndex >= 0 && (notice?.emit('action', { actionIndex }, actionIndex) ?? false);
    },
    'press-keys': ({ accelerator }) => {
      const pressed = keys.get(accelerator);
      pressed?.();
      return pressed !== undefined && app.isReady();
    },
  };
  return (actions[act.kind] as (act: NativeAct) => boolean)(act);
}
