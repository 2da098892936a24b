// Opening the window: the token is in a private file, never in an argument; nothing is opened without a display.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needs } from '../tests/needs.ts';
import { candidates, noSandbox, openerFilePath, openWindow, writeOpenerFile } from './window-opener.ts';

test('puts the token only into a private file', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-opener-'));
  const file = writeOpenerFile({ home, url: 'http://127.0.0.1:5', token: 'the-token' });
  writeOpenerFile({ home, url: 'http://127.0.0.1:5', token: 'the-token' });
  expect([file, statSync(file).mode & 0o777, statSync(join(home, 'run')).mode & 0o777]).toEqual([openerFilePath(home), 0o600, 0o700]);
  expect(readFileSync(file, 'utf8')).toContain('location.replace("http://127.0.0.1:5/#token=the-token")');
  const commands = JSON.stringify(candidates(`file://${file}`, home, { env: process.env, platform: process.platform, isRoot: false }));
  expect([commands.includes('the-token'), commands.includes('open.html')]).toEqual([false, true]);
  rmSync(home, { recursive: true });
});

test('tries nothing if there is no display', async () => {
  const nowhere = { home: '/nowhere', url: 'http://127.0.0.1:5', token: 't', onNoSandbox: () => expect.unreachable() };
  expect(await openWindow(nowhere, { env: {}, platform: 'linux', isRoot: true })).toBeNull();
});

test('the superuser sees a note if Chromium starts without its sandbox', needs('a Unix system'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-opener-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const env = { PATH: folder, DISPLAY: ':1' };
  // Only lists the candidates: starting one would open the default browser of this computer.
  const without = candidates('file:///page', folder, { env, platform: 'linux', isRoot: true });
  expect(without.map(({ command, args }) => [command, args.includes(noSandbox)])).toEqual([['xdg-open', false]]);
  let told = 0;
  const open = (isRoot: boolean): Promise<string | null> => {
    const address = { home: join(folder, 'home'), url: 'http://127.0.0.1:5', token: 't', onNoSandbox: () => (told += 1) };
    return openWindow(address, { env, platform: 'linux', isRoot });
  };
  writeFileSync(join(folder, 'chromium'), '#!/bin/sh\n', { mode: 0o755 });
  expect([await open(false), told]).toEqual(['an app window', 0]);
  expect([await open(true), told]).toEqual(['an app window', 1]);
});
