// Tests which starts of the desktop app are a command line, and how its arguments are parsed.

import { expect, test } from 'vitest';
import { commandLineOf, packagedCommand } from './desktop-flags.ts';

const script = '/opt/app/dist/desktop.js';

test.each<[string[], string[] | null]>([
  [['--cli'], []],
  [
    ['--cli', 'ask', 'a b', '--json'],
    ['ask', 'a b', '--json'],
  ],
  [
    ['--no-sandbox', '--ozone-platform=headless', '--cli', '--', 'ask', '--', '--cli'],
    ['ask', '--', '--cli'],
  ],
  [[script, '--cli', 'doctor'], ['doctor']],
  [[], null],
  [['--background'], null],
  [['--home=/x', '--cli', 'doctor'], null],
  [['trayclaw://settings', '--cli', 'doctor'], null],
  [['/tmp/file', '--cli', 'doctor'], null],
])('%j', (words, expected) => {
  expect(commandLineOf(['/opt/app/trayclaw-desktop', ...words], script)).toEqual(expected);
});

test('an installed app is started by its own executable, an AppImage by its file', () => {
  expect(packagedCommand('/opt/app', {}, true)).toEqual(['/opt/app', '--ozone-platform=headless', '--cli', '--']);
  expect(packagedCommand('/tmp/.mount_x/app', { APPIMAGE: '/home/me/T.AppImage' }, true)[0]).toBe('/home/me/T.AppImage');
  expect(packagedCommand('/Applications/T', {}, false)).toEqual(['/Applications/T', '--cli', '--']);
});
