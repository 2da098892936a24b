// The operating system's interface: tray, menu, notifications, dialogs, shortcuts. All are recorded, and the test operates them like a
// person.

import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';
import type {
  MenuItemConstructorOptions,
  MessageBoxOptions,
  MessageBoxReturnValue,
  NotificationConstructorOptions,
  Rectangle,
} from 'electron';
import { needsReady } from './lifecycle.ts';

export class NativeImage {
  readonly representations: { scaleFactor: number; width: number; height: number; png: string }[] = [];
  isTemplate = false;

  addRepresentation(part: { scaleFactor?: number; width?: number; height?: number; buffer?: Buffer }): void {
    this.representations.push({
      scaleFactor: part.scaleFactor ?? 1,
      width: part.width ?? 0,
      height: part.height ?? 0,
      png: part.buffer?.toString('base64') ?? '',
    });
  }

  setTemplateImage(isTemplate: boolean): void {
    this.isTemplate = isTemplate;
  }

  isTemplateImage(): boolean {
    return this.isTemplate;
  }

  isEmpty(): boolean {
    return this.representations.length === 0;
  }
}

export const nativeImage = { createEmpty: () => new NativeImage() };

export class Menu {
  readonly items: MenuItemConstructorOptions[];

  constructor(items: MenuItemConstructorOptions[] = []) {
    this.items = items;
  }

  static buildFromTemplate(items: MenuItemConstructorOptions[]): Menu {
    return new Menu(items.map((item) => ({ ...item })));
  }

  popup(): void {
    // Nothing opens a menu here: the stand-in's pages send no `context-menu`.
  }

  static setApplicationMenu(): void {
    // Windows of the stand-in have no menu bar.
  }
}

export const trays: Tray[] = [];

export class Tray extends EventEmitter {
  image: NativeImage;
  toolTip = '';
  menu: Menu | null = null;
  #isDestroyed = false;

  constructor(image: NativeImage) {
    super();
    needsReady('Tray');
    if (process.env['TRAYCLAW_STANDIN_NO_TRAY'] === '1') throw new Error('Failed to create a tray icon');
    this.image = image;
    trays.push(this);
  }

  setImage(image: NativeImage): void {
    this.#assertAlive();
    this.image = image;
  }

  setToolTip(text: string): void {
    this.#assertAlive();
    this.toolTip = text;
  }

  /** On Linux a changed menu is shown only once it is set again, so the test sees the menu as it was set, without later changes. */
  setContextMenu(menu: Menu | null): void {
    this.#assertAlive();
    this.menu = menu === null ? null : Menu.buildFromTemplate(menu.items);
  }

  destroy(): void {
    this.#isDestroyed = true;
    trays.splice(trays.indexOf(this), 1);
  }

  isDestroyed(): boolean {
    return this.#isDestroyed;
  }

  #assertAlive(): void {
    if (this.#isDestroyed) throw new Error('Tray is destroyed');
  }
}

export const notifications: Notification[] = [];

export class Notification extends EventEmitter {
  readonly options: NotificationConstructorOptions;
  isShown = false;

  constructor(options: NotificationConstructorOptions = {}) {
    super();
    needsReady('Notification');
    this.options = options;
  }

  static isSupported(): boolean {
    return process.env['TRAYCLAW_STANDIN_NO_NOTIFICATIONS'] !== '1';
  }

  show(): void {
    if (!this.isShown) notifications.push(this);
    this.isShown = true;
    queueMicrotask(() => this.emit('show', {}));
  }

  close(): void {
    if (!this.isShown) return;
    this.#goAway();
    queueMicrotask(() => this.emit('close', {}));
  }

  /** For the test: "Emitted when an error is encountered while creating and showing the native notification." */
  fail(error: string): void {
    this.#goAway();
    this.emit('failed', {}, error);
  }

  #goAway(): void {
    this.isShown = false;
    notifications.splice(notifications.indexOf(this), 1);
  }
}

export interface OpenDialog {
  readonly id: number;
  readonly options: Omit<MessageBoxOptions, 'signal'>;
  answer(response: number): void;
  /** Cancels like Escape. */
  cancel(): void;
}

export const dialogs: OpenDialog[] = [];
export const errorBoxes: { title: string; content: string }[] = [];
let lastDialog = 0;

export const dialog = {
  /** "signal: Pass an instance of AbortSignal to optionally close the message box, the message box will behave as if it was cancelled by the user." */
  showMessageBox(first: unknown, second?: MessageBoxOptions): Promise<MessageBoxReturnValue> {
    needsReady('dialog');
    const { signal, ...options } = (second ?? first) as MessageBoxOptions;
    return new Promise((resolve) => {
      const cancel = options.cancelId ?? cancelAmong(options.buttons ?? []);
      const close = (response: number): void => {
        const index = dialogs.findIndex((open) => open.id === id);
        if (index >= 0) dialogs.splice(index, 1);
        signal?.removeEventListener('abort', onAbort);
        resolve({ response, checkboxChecked: false });
      };
      const onAbort = (): void => close(cancel);
      const id = (lastDialog += 1);
      if (signal?.aborted === true) {
        resolve({ response: cancel, checkboxChecked: false });
        return;
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      dialogs.push({ id, options, answer: close, cancel: onAbort });
    });
  },
  showErrorBox(title: string, content: string): void {
    errorBoxes.push({ title, content });
    // "If called before the app readyevent on Linux, the message will be emitted to stderr"; here always, because that does not block.
    process.stderr.write(`${title}\n${content}\n`);
  },
};

/** "By default this is assigned to the first button with "cancel" or "no" as the label. If no such labeled buttons exist and this option is not set, 0 will be used as the return value." */
function cancelAmong(buttons: readonly string[]): number {
  return Math.max(
    0,
    buttons.findIndex((label) => /^(?:cancel|no)$/i.test(label)),
  );
}

const shortcuts = new Map<string, () => void>();

export const globalShortcut = {
  register(accelerator: string, pressed: () => void): boolean {
    needsReady('globalShortcut');
    if (!/^([A-Za-z]+\+)+[A-Za-z0-9]+$/.test(accelerator)) throw new TypeError('Error processing argument at index 0, conversion failure');
    // "When the accelerator is already taken by other applications, this call will silently fail."
    if (process.env['TRAYCLAW_STANDIN_TAKEN_KEYS'] === accelerator || shortcuts.has(accelerator)) return false;
    shortcuts.set(accelerator, pressed);
    return true;
  },
  unregister: (accelerator: string): void => void shortcuts.delete(accelerator),
  isRegistered: (accelerator: string): boolean => shortcuts.has(accelerator),
};

export function pressKeys(accelerator: string): boolean {
  const pressed = shortcuts.get(accelerator);
  pressed?.();
  return pressed !== undefined;
}

export const openedLinks: string[] = [];
export const clipboard = {
  writeText: (_text: string): Promise<void> => Promise.resolve(),
};

export const shell = {
  openExternal: async (url: string): Promise<void> => {
    openedLinks.push(url);
  },
};

export const powerMonitor = new EventEmitter();

/**
 * For the test. "If the event handler invokes `e.preventDefault()`, Electron will attempt to delay system shutdown in order for the app to
 * exit cleanly": without it, the system ends the app at once.
 */
export function tellPower(event: 'suspend' | 'resume' | 'shutdown'): boolean {
  let isDelayed = event !== 'shutdown';
  const isHeard = powerMonitor.emit(event, { preventDefault: () => (isDelayed = true) });
  if (!isDelayed) process.kill(process.pid, 'SIGKILL');
  return isHeard;
}

class NativeTheme extends EventEmitter {
  shouldUseDarkColors = process.env['TRAYCLAW_STANDIN_DARK'] === '1';
  /** Of Windows and macOS only. */
  shouldUseDarkColorsForSystemIntegratedUI = false;
}
export const nativeTheme = new NativeTheme();

const display: { workArea: Rectangle; scaleFactor: number } = { workArea: { x: 0, y: 0, width: 1920, height: 1080 }, scaleFactor: 1 };

export const screen = {
  getAllDisplays: (): (typeof display)[] => {
    needsReady('screen');
    return [display];
  },
  getPrimaryDisplay: (): typeof display => {
    needsReady('screen');
    return display;
  },
};

type PermissionAsk = NonNullable<Parameters<Electron.Session['setPermissionRequestHandler']>[0]>;
type PermissionCheck = NonNullable<Parameters<Electron.Session['setPermissionCheckHandler']>[0]>;
export const permissions: { ask: PermissionAsk | null; check: PermissionCheck | null; device: unknown } = {
  ask: null,
  check: null,
  device: null,
};
export const session = {
  defaultSession: {
    setPermissionRequestHandler: (ask: PermissionAsk | null): void => void (permissions.ask = ask),
    setPermissionCheckHandler: (check: PermissionCheck | null): void => void (permissions.check = check),
    setDevicePermissionHandler: (device: unknown): void => void (permissions.device = device),
  },
};
