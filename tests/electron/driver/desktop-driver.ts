// The actions and views of a desktop spec, as a person at the desktop has them: the page, the tray, dialogs, notifications, keys, power.
// Two implementations: the stand-in with a real Chromium, and real Electron.

import type * as Electron from 'electron';
import type { Page } from 'playwright-core';
import type { Desk } from '../stand-in/control.ts';
import type { ForeignSender } from '../stand-in/web-contents.ts';

export type { Desk } from '../stand-in/control.ts';

export interface StartOptions {
  readonly home: string;
  /** After the program's own. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The file that is started; the built app by default. */
  readonly main?: string;
}

export interface DesktopDriver {
  readonly kind: 'stand-in' | 'electron';
  readonly pid: number;
  /** With the code the app ended with; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Everything the app wrote to its standard error. */
  readonly errorOutput: string;
  desk(): Promise<Desk>;
  /** The page of the app's window, waited for. */
  page(): Promise<Page>;
  clickTray(): Promise<void>;
  /** False where there is no such entry or it cannot be pressed. */
  clickMenu(id: string): Promise<boolean>;
  /** Of the dialog shown longest. False where no dialog has such a button. */
  answerDialog(button: string): Promise<boolean>;
  /** Escape, or the window manager's cross. */
  dismissDialog(): Promise<boolean>;
  clickNotification(index: number): Promise<void>;
  actOnNotification(index: number, action: string): Promise<boolean>;
  /** The system could not show it. */
  failNotification(index: number): Promise<void>;
  pressKeys(accelerator: string): Promise<boolean>;
  power(event: 'suspend' | 'resume' | 'shutdown'): Promise<void>;
  dark(isDark: boolean): Promise<void>;
  /** Starts the program once more, as a separate process, and resolves with its exit code. */
  secondInstance(args: readonly string[]): Promise<number | null>;
  window(call: 'close' | 'minimize' | 'blur' | 'focus' | 'show'): Promise<void>;
  crashPage(): Promise<void>;
  /** A message as it would come from elsewhere. Rejects with what the sender would be told. */
  sendAs(channel: string, args: readonly unknown[], from: ForeignSender): Promise<unknown>;
  /** The app's answer when its page requests a permission. */
  permission(name: string): Promise<boolean>;
  /** Runs a function with the module `electron` in the main process. It can use nothing of the spec but its argument. */
  evaluate<R, A>(work: (electron: typeof Electron, argument: A) => R | Promise<R>, argument: A): Promise<R>;
  /** As `app.quit()`; does not wait. */
  quit(): Promise<void>;
  /** Ends it whatever it does. */
  kill(): Promise<void>;
}
