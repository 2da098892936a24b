import { expect, test } from 'vitest';
import { acceleratorOf, shownKeys } from './accelerator.ts';

const press = (code: string, held = '') => ({
  code,
  ctrlKey: held.includes('c'),
  altKey: held.includes('a'),
  shiftKey: held.includes('s'),
  metaKey: held.includes('m'),
});

test.each([
  ['Escape', 'cas', 'Control+Alt+Shift+Escape'],
  ['KeyP', 'cs', 'Control+Shift+P'],
  ['Digit7', 'ca', 'Control+Alt+7'],
  ['F12', 'as', 'Alt+Shift+F12'],
  ['ArrowUp', 'ca', 'Control+Alt+Up'],
  ['KeyK', 'cm', 'Control+Super+K'],
])('%s with %s is %s', (code, held, wanted) => {
  expect(acceleratorOf(press(code, held), false)).toBe(wanted);
});

test('the command key of a Mac has its name', () => {
  expect(acceleratorOf(press('KeyK', 'sm'), true)).toBe('Shift+Command+K');
});

test.each([
  ['KeyV', 'c'],
  ['KeyA', ''],
  ['Escape', ''],
  ['Tab', 's'],
  ['ArrowLeft', 'cs'],
  ['Home', 's'],
  ['ControlLeft', 'ca'],
  ['AltLeft', 'cas'],
])('%s with "%s" edits the text or moves the focus, as in any field', (code, held) => {
  expect(acceleratorOf(press(code, held), false)).toBe(null);
});

test('keys are shown by the names on the keyboard, which Electron takes too', () => {
  expect(shownKeys('CommandOrControl+Alt+Shift+Escape', false)).toBe('Ctrl+Alt+Shift+Esc');
  expect(shownKeys('CommandOrControl+Alt+Shift+Escape', true)).toBe('Command+Alt+Shift+Esc');
  expect(shownKeys('Super+F9', false)).toBe('Super+F9');
});
