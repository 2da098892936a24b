// The life-cycle state that all parts of the stand-in share.

/** Resolves when the app's main module has run to its end. */
export const codeLoaded = Promise.withResolvers<void>();

export const lifecycle = {
  isReady: false,
  isQuitting: false,
};

const tooEarly = {
  BrowserWindow: 'Cannot create BrowserWindow before app is ready',
  Tray: 'Cannot create Tray before app is ready',
  Notification: 'Cannot create Notification before app is ready',
  dialog: 'dialog module can only be used after app is ready',
  globalShortcut: 'globalShortcut cannot be used before the app is ready',
  utilityProcess: 'utilityProcess cannot be created before app is ready.',
  screen: "The 'screen' module can't be used before the app 'ready' event",
} as const;

/** Throws Electron's own message before the app is ready. */
export function needsReady(part: keyof typeof tooEarly): void {
  if (!lifecycle.isReady) throw new Error(tooEarly[part]);
}
