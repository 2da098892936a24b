// The module `electron` of the stand-in: exactly the parts that the app uses.

export { app } from './app.ts';
export { BrowserWindow } from './browser-window.ts';
export { ipcMain } from './ipc-main.ts';
export {
  clipboard,
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
export { utilityProcess } from './utility-process.ts';
