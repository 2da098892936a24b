// The table of commands as a whole: names and keys are unique, browser keys stay free in a browser, and keys mean what they say.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { viewNames } from '../../../core/contracts/views.ts';
import { english } from '../i18n/english/whole.ts';
import { commandTable } from './commands.ts';
import { isSingle, keyNames, type KeyPress } from './keys.ts';
import { commandFor, type Situation } from './shortcuts.ts';

/** New window, tab and private window, closing, finding, printing, saving, history, address, zoom, tabs by number. */
const browserKeys = /^Mod\+(?:Shift\+)?[NTWFPSHLDORJ0-9+-]$|^Alt\+(?:Left|Right|[0-9D])$|^F(?:1|3|5|6|7|11|12)$/;

test('every command has a unique name and a unique id', () => {
  const names = commandTable.map((command) => command.name(english.commands));
  expect(names.filter((name, index) => name.trim() === '' || names.indexOf(name) !== index)).toEqual([]);
  const ids = commandTable.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(['app', 'browser'] as const)('no keys mean two things: %s', (place) => {
  const chords = commandTable.flatMap(({ keys }) => keys?.[place] ?? []);
  expect(chords.length).toBeGreaterThan(15);
  expect(chords.filter((chord, index) => chords.indexOf(chord) !== index)).toEqual([]);
});

test('in a browser nothing is taken that the browser itself needs', () => {
  // Commands that yield replace the browser's own: the page contains only a part of the session.
  const chords = commandTable.filter(({ yields }) => yields !== true).flatMap(({ keys }) => keys?.browser ?? []);
  expect(chords.filter((chord) => browserKeys.test(chord))).toEqual([]);
  expect(['Mod+N', 'Mod+F', 'Mod+1'].every((chord) => browserKeys.test(chord))).toBe(true);
});

test('what has a key of one character has another way: the palette, which has none', () => {
  const palette = commandTable.find(({ id }) => id === 'show-palette');
  expect(palette?.keys?.app.some(isSingle)).toBe(false);
  expect(palette?.keys?.browser.some(isSingle)).toBe(false);
});

const calm: Situation = { place: 'app', isMac: false, isTyping: false, isDialogOpen: false, hasSingleKeys: true, isRepeat: false };
const press = (key: string, held: Partial<KeyPress> = {}, code = `Key${key.toUpperCase()}`): KeyPress => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});
const idFor = (keys: KeyPress, situation: Partial<Situation> = {}): string | undefined => commandFor(keys, { ...calm, ...situation })?.id;

test('one character is a key only where nothing is typed and the person wants it', () => {
  expect(idFor(press('j'))).toBe('next-session');
  expect(idFor(press('?', { shiftKey: true }, 'Slash'))).toBe('show-keys');
  expect(idFor(press('j'), { isTyping: true })).toBeUndefined();
  expect(idFor(press('j'), { hasSingleKeys: false })).toBeUndefined();
  expect(idFor(press('j'), { isDialogOpen: true })).toBeUndefined();
});

test('under a dialog only palette and panic stop work, and only stepping repeats', () => {
  const panic = press('>', { ctrlKey: true, shiftKey: true }, 'Period');
  expect(idFor(panic, { isDialogOpen: true, isTyping: true, hasSingleKeys: false })).toBe('panic-stop');
  expect(idFor(panic, { isRepeat: true })).toBeUndefined();
  expect(idFor(press('n', { ctrlKey: true }))).toBe('new-session');
  expect(idFor(press('n', { ctrlKey: true }), { isDialogOpen: true })).toBeUndefined();
  expect(idFor(press('n', { ctrlKey: true }), { place: 'browser' })).toBeUndefined();
  expect(idFor(press('j'), { isRepeat: true })).toBe('next-session');
});

test('the page of keys has the keys that hold', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/reference/keys.md', import.meta.url)), 'utf8');
  const rows = [...page.matchAll(/^\|(.+)\|$/gm)].map(([, cells = '']) => cells.split('|').map((cell) => cell.trim()));
  const namesOf = (chords: readonly string[]): string =>
    chords.map((chord) => keyNames(chord, false, english.frame.keys).join('+')).join(' or ');
  const wanted = commandTable.flatMap((command) =>
    command.keys === undefined ? [] : [[command.name(english.commands), namesOf(command.keys.app), namesOf(command.keys.browser)]],
  );
  // The header of the table and the line under it come first.
  expect(rows.slice(2)).toEqual(wanted);
});

test.each(viewNames)('the view %s has the file that the window opens for it', (view) => {
  expect(existsSync(new URL(`../../views/${view}/${view}-view.svelte`, import.meta.url))).toBe(true);
});
