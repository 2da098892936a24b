// The module `electron` of the stand-in: the part of it that the app uses, and nothing it does not.

export { app } from './app.ts';
export { BrowserWindow } from './browser-window.ts';
export { ipcMain } from './ipc-main.ts';
export {
  dialog,
  globalShortcut,
  Menu,
  nativeImage,
  nativeTheme,
  Notification,
  powerMonitor,
  screen,
  session,
  shell,
  Tray,
} from './native.ts';
export { protocol } from './protocol.ts';
