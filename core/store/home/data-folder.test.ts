// The location of the data folder by system and setting.

import { expect, test } from 'vitest';
import { resolveHome } from './data-folder.ts';

const linux = { env: {}, cwd: '/here', platform: 'linux', userFolder: '/home/p' } as const;

test.each([
  ['x', linux, '/here/x'],
  [undefined, { ...linux, env: { TRAYCLAW_HOME: '/data' } }, '/data'],
  [undefined, { ...linux, env: { TRAYCLAW_HOME: '~/claw' } }, '/home/p/claw'],
  ['~', linux, '/home/p'],
  ['~other/claw', linux, '/here/~other/claw'],
  ['/flag', { ...linux, env: { TRAYCLAW_HOME: '/data' } }, '/flag'],
  [undefined, { ...linux, env: { TRAYCLAW_HOME: '' } }, '/home/p/.local/share/trayclaw'],
  [undefined, { ...linux, env: { XDG_DATA_HOME: '/xdg' } }, '/xdg/trayclaw'],
  [undefined, { ...linux, env: { XDG_DATA_HOME: 'relative' } }, '/home/p/.local/share/trayclaw'],
  [undefined, { ...linux, platform: 'darwin' }, '/home/p/Library/Application Support/TrayClaw'],
  [undefined, { ...linux, platform: 'win32', env: { LOCALAPPDATA: '/local', APPDATA: '/roaming' } }, '/local/TrayClaw'],
] as const)('%j with %j is %j', (flag, io, home) => {
  expect(resolveHome(flag, io)).toBe(home);
});
