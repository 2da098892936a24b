import { expect, test } from 'vitest';
import { english } from '../i18n/english/english.ts';
import { ariaKeys, isPressed, isSingle, keyNames, type KeyPress } from './keys.ts';

const press = (key: string, code: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

test('Mod is Command on a Mac and Control elsewhere, and nothing else may be held', () => {
  expect(isPressed('Mod+K', press('k', 'KeyK', { ctrlKey: true }), false)).toBe(true);
  expect(isPressed('Mod+K', press('k', 'KeyK', { ctrlKey: true }), true)).toBe(false);
  expect(isPressed('Mod+K', press('k', 'KeyK', { metaKey: true }), true)).toBe(true);
  expect(isPressed('Mod+K', press('K', 'KeyK', { ctrlKey: true, shiftKey: true }), false)).toBe(false);
  expect(isPressed('Mod+K', press('k', 'KeyK', { ctrlKey: true, altKey: true }), false)).toBe(false);
});

test('a letter is the one the layout writes; where that writes others, and with Alt on a Mac, its place counts', () => {
  expect(isPressed('Mod+K', press('k', 'KeyV', { ctrlKey: true }), false)).toBe(true);
  expect(isPressed('Mod+K', press('л', 'KeyK', { ctrlKey: true }), false)).toBe(true);
  expect(isPressed('Alt+Shift+F', press('Ï', 'KeyF', { altKey: true, shiftKey: true }), true)).toBe(true);
  expect(isPressed('Alt+Shift+1', press('!', 'Digit1', { altKey: true, shiftKey: true }), false)).toBe(true);
  expect(isPressed('Mod+2', press('é', 'Digit2', { ctrlKey: true }), false)).toBe(true);
});

test('a lone sign is the sign, wherever the layout has it', () => {
  expect(isPressed('?', press('?', 'Slash', { shiftKey: true }), false)).toBe(true);
  expect(isPressed('?', press('?', 'Minus', { shiftKey: true }), false)).toBe(true);
  expect(isPressed('?', press('?', 'Slash', { shiftKey: true, ctrlKey: true }), false)).toBe(false);
  expect(isPressed('J', press('J', 'KeyJ', { shiftKey: true }), false)).toBe(false);
  expect(isPressed('Ctrl+Shift+.', press(':', 'Period', { ctrlKey: true, shiftKey: true }), true)).toBe(true);
  expect(['?', 'J', 'F2', 'Alt+Down'].map(isSingle)).toEqual([true, true, false, false]);
});

test('keys are named as they are called', () => {
  expect(keyNames('Mod+Shift+K', false, english.frame.keys)).toEqual(['Ctrl', 'Shift', 'K']);
  expect(keyNames('Mod+Shift+K', true, english.frame.keys)).toEqual(['⌘', '⇧', 'K']);
  expect(keyNames('Alt+Down', false, english.frame.keys)).toEqual(['Alt', '↓']);
  expect([ariaKeys('Mod+K', true), ariaKeys('Alt+Down', false)]).toEqual(['Meta+K', 'Alt+ArrowDown']);
});
