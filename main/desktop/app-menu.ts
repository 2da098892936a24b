// The application menu: on macOS it provides copying, pasting, hiding and quitting, so it consists of the system's own entries. Windows and
// Linux have none: there the keys work without a menu.

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
        // Not the role: running work asks for confirmation first.
        { id: 'quit', label: 'Quit TrayClaw', accelerator: 'Command+Q', click: () => quit() },
      ],
    },
    { role: 'editMenu' },
    { role: 'windowMenu' },
  ];
}
