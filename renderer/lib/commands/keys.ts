// Parses keys as written in the table of commands (`Mod+K`, `Alt+Down`, `?`), compares them with a key press, and formats them for people.
// `Mod` is Command on a Mac and Control elsewhere. Pure.

import type { Words } from '../i18n/words.ts';

/** The part of a keyboard event used here. */
export interface KeyPress {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

interface Chord {
  readonly ctrl: boolean;
  readonly meta: boolean;
  readonly alt: boolean;
  readonly shift: boolean;
  readonly key: string;
}

function parse(chord: string, isMac: boolean): Chord {
  const parts = chord.split('+');
  const key = parts.pop() ?? '';
  const has = (name: string): boolean => parts.includes(name);
  return {
    ctrl: has('Ctrl') || (has('Mod') && !isMac),
    meta: has('Mod') && isMac,
    alt: has('Alt'),
    shift: has('Shift'),
    key,
  };
}

export function isPressed(chord: string, press: KeyPress, isMac: boolean): boolean {
  const wanted = parse(chord, isMac);
  if (press.ctrlKey !== wanted.ctrl || press.metaKey !== wanted.meta || press.altKey !== wanted.alt) return false;
  // Which key produces a sign depends on the layout, and so does whether Shift is needed.
  if (isLoneSign(chord)) return press.key === wanted.key;
  return press.shiftKey === wanted.shift && isKey(wanted.key, press);
}

function isKey(key: string, press: KeyPress): boolean {
  if (/^[A-Z]$/.test(key)) {
    // A non-Latin layout has no such key, so the key's position counts. On a Mac, Alt changes the letter.
    const isLatin = /^[a-z]$/i.test(press.key);
    return isLatin ? press.key.toUpperCase() === key : press.code === `Key${key}`;
  }
  if (/^\d$/.test(key)) return press.code === `Digit${key}`;
  return press.code === (codes[key] ?? key);
}

const codes: Readonly<Record<string, string>> = { Up: 'ArrowUp', Down: 'ArrowDown', '.': 'Period', '/': 'Slash' };

function isLoneSign(chord: string): boolean {
  return chord.length === 1 && !/[A-Z0-9]/.test(chord);
}

/** One character without a modifier: active only outside text fields, and can be switched off (WCAG 2.2, 2.1.4). */
export function isSingle(chord: string): boolean {
  return chord.length === 1;
}

/** The names of the keys on this computer, in order. */
export function keyNames(chord: string, isMac: boolean, words: Words['frame']['keys']): string[] {
  const macSigns: Readonly<Record<string, string>> = { Mod: '⌘', Ctrl: '⌃', Alt: '⌥', Shift: '⇧' };
  const names: Readonly<Record<string, string>> = { Mod: words.ctrl, Ctrl: words.ctrl, Alt: words.alt, Shift: words.shift };
  const others: Readonly<Record<string, string>> = { Up: '↑', Down: '↓', Enter: words.enter, Escape: words.escape, Delete: words.delete };
  return chord.split('+').map((part) => (isMac ? macSigns[part] : names[part]) ?? others[part] ?? part);
}

/** Formats keys for `aria-keyshortcuts`. */
export function ariaKeys(chord: string, isMac: boolean): string {
  const names: Readonly<Record<string, string>> = { Mod: isMac ? 'Meta' : 'Control', Ctrl: 'Control', Up: 'ArrowUp', Down: 'ArrowDown' };
  return chord
    .split('+')
    .map((part) => names[part] ?? part)
    .join('+');
}
