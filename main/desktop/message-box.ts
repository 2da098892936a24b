// Shows questions and messages of the app without holding it up while they are open.

import type { BrowserWindow, Dialog, MessageBoxOptions, MessageBoxReturnValue } from 'electron';

export interface BoxPlace {
  readonly dialog: Pick<Dialog, 'showMessageBox'>;
  readonly platform: NodeJS.Platform;
  /** Shows the app's window and returns it; null if it cannot be shown. */
  readonly showWindow: () => BrowserWindow | null;
}

/** Returns whether a box without a parent window stops the whole program until it is answered: turns, doors and the panic stop. */
export function holdsUp(platform: NodeJS.Platform): boolean {
  // "On macOS […] those message boxes run synchronously due to platform limitations."
  return platform === 'darwin';
}

/** The box belongs to no window, and so blocks none, unless it would hold the program up. */
export function showBox({ dialog, platform, showWindow }: BoxPlace, options: MessageBoxOptions): Promise<MessageBoxReturnValue> {
  const parent = holdsUp(platform) ? showWindow() : null;
  return parent === null ? dialog.showMessageBox(options) : dialog.showMessageBox(parent, options);
}
