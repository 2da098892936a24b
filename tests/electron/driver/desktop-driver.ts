// The actions and views of a desktop spec, like those of a person at the desktop: the page, the tray, dialogs, notifications, keys, power.
// Two implementations: the stand-in with a real Chromium, and real Electron.

import type * as Electron from 'electron';
import type { Page } from 'playwright-core';
import type { Desk } from '../stand-in/control.ts';
import type { ForeignSender } from '../stand-in/web-contents.ts';

export type { Desk } from '../stand-in/control.ts';

export interface StartOptions {
  readonly home: string;
  /** Arguments added after the program's own. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The main script; the built app by default. */
  readonly main?: string;
}

export interface DesktopDriver {
  readonly kind: 'stand-in' | 'electron';
  readonly pid: number;
  /** Resolves to the exit code; null if a signal ended the app. */
  readonly exited: Promise<number | null>;
  /** Everything the app wrote to its standard error. */
  readonly errorOutput: string;
  desk(): Promise<Desk>;
  /** Waits for the page of the app's window. */
  page(): Promise<Page>;
  clickTray(): Promise<void>;
  /** Resolves to false if the entry does not exist or is disabled. */
  clickMenu(id: string): Promise<boolean>;
  /** Clicks a button of the dialog that was opened first. Resolves to false if no dialog has such a button. */
  answerDialog(button: string): Promise<boolean>;
  /** Dismisses the dialog as Escape or the window's close button does. */
  dismissDialog(): Promise<boolean>;
  clickNotification(index: number): Promise<void>;
  actOnNotification(index: number, action: string): Promise<boolean>;
  /** Reports that the system could not show the notification. */
  failNotification(index: number): Promise<void>;
  pressKeys(accelerator: string): Promise<boolean>;
  power(event: 'suspend' | 'resume' | 'shutdown'): Promise<void>;
  dark(isDark: boolean): Promise<void>;
  /** Starts the program once more, as a separate process; resolves to its exit code. */
  secondInstance(args: readonly string[]): Promise<number | null>;
  window(call: 'close' | 'minimize' | 'blur' | 'focus' | 'show'): Promise<void>;
  crashPage(): Promise<void>;
  /** Sends a message as another sender would. Rejects with the error that the sender would receive. */
  sendAs(channel: string, args: readonly unknown[], from: ForeignSender): Promise<unknown>;
  /** The app's answer when its page requests a permission. */
  permission(name: string): Promise<boolean>;
  /** Runs a function with the module `electron` in the main process. The function can use nothing of the spec but its argument. */
  evaluate<R, A>(work: (electron: typeof Electron, argument: A) => R | Promise<R>, argument: A): Promise<R>;
  /** Like `app.quit()`; does not wait. */
  quit(): Promise<void>;
  /** Kills the app in any state. */
  kill(): Promise<void>;
}
