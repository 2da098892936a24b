// The window's place: saved, restored, dropped if no screen shows it. Missing files and full disks do no harm.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WindowPlaceFile, type WindowPlace } from './window-place.ts';

const screen = { x: 0, y: 0, width: 1920, height: 1080 };
const place: WindowPlace = { x: 100, y: 50, width: 1180, height: 780, maximized: false };

function rig() {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-place-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return { home, run: join(home, 'run'), file: join(home, 'run', 'window.json'), places: new WindowPlaceFile(home) };
}

test('saves a place readable by its owner only, and restores it', () => {
  const { places, file, run } = rig();
  expect(places.read([screen])).toBeNull();
  places.write(place);
  places.write({ ...place, maximized: true });
  expect([places.read([screen]), statSync(file).mode & 0o777, readdirSync(run)]).toEqual([
    { ...place, maximized: true },
    0o600,
    ['window.json'],
  ]);
});

test.each<[string, Partial<WindowPlace>, boolean]>([
  ['on the second screen to the left', { x: -1500 }, true],
  ['on a screen that is gone', { x: 2500 }, false],
  ['below every screen', { y: 1080 }, false],
  ['with a corner one can take hold of', { x: 1820, y: 980 }, true],
  ['with less of a corner than that', { x: 1821, y: 980 }, false],
  ['larger than the screen', { x: -50, y: -50, width: 4000, height: 3000 }, true],
])('%s', (_name, changes, isShown) => {
  const { places } = rig();
  const kept = { ...place, ...changes };
  places.write(kept);
  expect(places.read([screen, { x: -1920, y: 0, width: 1920, height: 1080 }])).toEqual(isShown ? kept : null);
  expect(places.read([])).toBeNull();
});

const written = JSON.stringify(place);
test.each([
  '',
  '{',
  'null',
  '[]',
  written.slice(0, -3),
  JSON.stringify({ ...place, x: '1' }),
  JSON.stringify({ ...place, x: 1.5 }),
  JSON.stringify({ ...place, width: 10 }),
  JSON.stringify({ ...place, height: 1e9 }),
  JSON.stringify({ ...place, more: 1 }),
  '\u0000'.repeat(100),
])('ignores a file that contains %j', (text) => {
  const { places, file, run } = rig();
  mkdirSync(run);
  writeFileSync(file, text);
  expect(places.read([screen])).toBeNull();
  places.write(place);
  expect(places.read([screen])).toEqual(place);
});

test('a failed write does not throw', () => {
  const { home, places, file } = rig();
  writeFileSync(join(home, 'run'), 'a file where the folder should be');
  places.write(place);
  expect([places.read([screen]), existsSync(file), readFileSync(join(home, 'run'), 'utf8')]).toEqual([
    null,
    false,
    'a file where the folder should be',
  ]);
  chmodSync(join(home, 'run'), 0o600);
});
