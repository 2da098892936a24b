// The application menu: the system's own entries on macOS, no menu elsewhere.

import { expect, test } from 'vitest';
import { appMenu } from './app-menu.ts';

test("macOS: editing uses the system's roles; quitting uses ours, which asks first", () => {
  let quits = 0;
  const [own, ...rest] = appMenu('darwin', () => (quits += 1)) ?? [];
  expect(rest).toEqual([{ role: 'editMenu' }, { role: 'windowMenu' }]);
  const items = Array.isArray(own?.submenu) ? own.submenu : [];
  expect(items.map(({ role, type, id }) => role ?? type ?? id)).toEqual([
    'about',
    'separator',
    'services',
    'separator',
    'hide',
    'hideOthers',
    'unhide',
    'separator',
    'quit',
  ]);
  const quit = items.find(({ id }) => id === 'quit');
  expect([quit?.accelerator, quit?.role]).toEqual(['Command+Q', undefined]);
  (quit?.click as (() => void) | undefined)?.();
  expect(quits).toBe(1);
});

test.each(['linux', 'win32'] as const)('%s shows no menu bar', (platform) => {
  expect(appMenu(platform, () => undefined)).toBeNull();
});
