// How the window is opened: the token in a private file and never in an argument, and what happens with no display.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { candidates, openerFilePath, openWindow, writeOpenerFile } from './window-opener.ts';

test('the token is in a private file only', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-opener-'));
  const file = writeOpenerFile({ home, url: 'http://127.0.0.1:5', token: 'the-token' });
  writeOpenerFile({ home, url: 'http://127.0.0.1:5', token: 'the-token' });
  expect([file, statSync(file).mode & 0o777, statSync(join(home, 'run')).mode & 0o777]).toEqual([openerFilePath(home), 0o600, 0o700]);
  expect(readFileSync(file, 'utf8')).toContain('location.replace("http://127.0.0.1:5/#token=the-token")');
  const commands = JSON.stringify(candidates(`file://${file}`, home, { env: process.env, platform: process.platform, isRoot: false }));
  expect([commands.includes('the-token'), commands.includes('open.html')]).toEqual([false, true]);
  rmSync(home, { recursive: true });
});

test('with no display nothing is tried', async () => {
  expect(
    await openWindow({ home: '/nowhere', url: 'http://127.0.0.1:5', token: 't' }, { env: {}, platform: 'linux', isRoot: false }),
  ).toBeNull();
});
