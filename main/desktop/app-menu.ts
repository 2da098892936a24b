// The application menu. On macOS it provides copying, pasting, hiding and quitting, so it contains the system's own entries. Windows and
// Linux have no menu: the keys work without one.

import type { MenuItemConstructorOptions } from 'electron';

/** Null if the app shows no menu bar. */
export function appMenu(platform: NodeJS.Platform, quit: () => void): MenuItemConstructorOptions[] | null {
  if (platform !== 'darwin') return null;
  return [
    {
      label: 'TrayClaw',
      submenu: [
        { role: 'about' },
        { type: 'separator' },
        { role: 'services' },
        { type: 'separator' },
        { role: 'hide' },
        { role: 'hideOthers' },
        { role: 'unhide' },
        { type: 'separator' },
        // Not the `quit` role: the app asks for confirmation while work is running.
        { id: 'quit', label: 'Quit TrayClaw', accelerator: 'Command+Q', click: () => quit() },
      ],
    },
    { role: 'editMenu' },
    { role: 'windowMenu' },
  ];
}
