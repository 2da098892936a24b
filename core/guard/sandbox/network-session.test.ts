// The paths at which the library's own programs are found: node_modules of a checkout, and next to the archive of the packaged app.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { libraryFolder, outsideArchive } from './network-session.ts';

test.each([
  ['/opt/TrayClaw/resources/app.asar/node_modules/a', '/opt/TrayClaw/resources/app.asar.unpacked/node_modules/a'],
  ['C:\\TrayClaw\\resources\\app.asar\\node_modules\\a', 'C:\\TrayClaw\\resources\\app.asar.unpacked\\node_modules\\a'],
  ['/opt/app.asar.unpacked/node_modules/a', '/opt/app.asar.unpacked/node_modules/a'],
  ['/home/me/my-app.asar/node_modules/a', '/home/me/my-app.asar/node_modules/a'],
  ['/home/me/trayclaw/node_modules/a', '/home/me/trayclaw/node_modules/a'],
])('other programs open %s as %s', (path, expected) => {
  expect(outsideArchive(path)).toBe(expected);
});

test('the Java agent exists at the path given to the library', () => {
  expect(existsSync(join(libraryFolder(), 'vendor', 'java-proxy-agent', 'srt-proxy-agent.jar'))).toBe(true);
});
