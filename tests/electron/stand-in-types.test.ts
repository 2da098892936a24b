// Checks every part of the stand-in against Electron's types: the calls that the app may make exist here in a compatible form. The compiler
// does the check; running the file only ensures that no part was left out.

import type * as Electron from 'electron';
import { expect, test } from 'vitest';
import type * as StandIn from './stand-in/electron.ts';

/**
 * The calls of a part that the stand-in has, in Electron's form. Listener methods are excluded, because their overloads list the events one
 * by one.
 */
type Calls<Ours, Real> = {
  [K in Exclude<Extract<keyof Ours, keyof Real>, keyof NodeJS.EventEmitter>]: Real[K] extends (...args: infer A) => infer R
    ? Ours[K] extends (...args: A) => infer OurR
      ? Simple<OurR, R>
      : 'takes less than Electron'
    : true;
};
/** A result of plain values must be compatible; a result that is itself a part is checked as a part. */
type Simple<R, RealR> = Fits<R, RealR> extends true ? true : RealR extends object ? true : 'answers what Electron does not';
type Fits<A, B> = [A] extends [B] ? true : false;
type Wrong<T> = { [K in keyof T]: T[K] extends true ? never : K }[keyof T];

/** True if every call is compatible. Members that Electron does not have are for the specs only and listed here. */
type Checked<Ours, Real> = Wrong<Calls<Ours, Real>> extends never ? true : Wrong<Calls<Ours, Real>>;

const parts: { readonly [K in keyof typeof StandIn]: K extends keyof typeof Electron ? true : false } = {
  app: true,
  BrowserWindow: true,
  clipboard: true,
  dialog: true,
  globalShortcut: true,
  ipcMain: true,
  Menu: true,
  nativeImage: true,
  nativeTheme: true,
  Notification: true,
  powerMonitor: true,
  protocol: true,
  screen: true,
  session: true,
  shell: true,
  Tray: true,
  utilityProcess: true,
};

const fits: {
  readonly app: Checked<typeof StandIn.app, Electron.App>;
  readonly browserWindow: Checked<InstanceType<typeof StandIn.BrowserWindow>, Electron.BrowserWindow>;
  readonly webContents: Checked<InstanceType<typeof StandIn.BrowserWindow>['webContents'], Electron.WebContents>;
  readonly clipboard: Checked<typeof StandIn.clipboard, Electron.Clipboard>;
  readonly dialog: Checked<typeof StandIn.dialog, Electron.Dialog>;
  readonly globalShortcut: Checked<typeof StandIn.globalShortcut, Electron.GlobalShortcut>;
  readonly ipcMain: Checked<typeof StandIn.ipcMain, Electron.IpcMain>;
  readonly menu: Checked<InstanceType<typeof StandIn.Menu>, Electron.Menu>;
  readonly nativeTheme: Checked<typeof StandIn.nativeTheme, Electron.NativeTheme>;
  readonly notification: Checked<InstanceType<typeof StandIn.Notification>, Electron.Notification>;
  readonly protocol: Checked<typeof StandIn.protocol, Electron.Protocol>;
  readonly screen: Checked<typeof StandIn.screen, Electron.Screen>;
  readonly session: Checked<typeof StandIn.session.defaultSession, Electron.Session>;
  readonly shell: Checked<typeof StandIn.shell, Electron.Shell>;
  readonly utilityProcess: Checked<typeof StandIn.utilityProcess, typeof Electron.utilityProcess>;
  readonly child: Checked<ReturnType<typeof StandIn.utilityProcess.fork>, Electron.UtilityProcess>;
  /** Two members take other parts, of which the stand-in has its own. */
  readonly tray: Checked<Omit<InstanceType<typeof StandIn.Tray>, 'setImage' | 'setContextMenu'>, Electron.Tray>;
} = {
  app: true,
  browserWindow: true,
  webContents: true,
  clipboard: true,
  dialog: true,
  globalShortcut: true,
  ipcMain: true,
  menu: true,
  nativeTheme: true,
  notification: true,
  protocol: true,
  screen: true,
  session: true,
  shell: true,
  utilityProcess: true,
  child: true,
  tray: true,
};

test('every part of the stand-in is a part of Electron, with compatible types', () => {
  expect(Object.values(parts).every(Boolean)).toBe(true);
  expect(Object.keys(fits).length).toBe(Object.keys(parts).length - 2 + 2);
});
