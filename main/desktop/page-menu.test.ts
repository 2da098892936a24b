// The menu on the right mouse button for text, fields, links, pictures and misspelled words, and zooming.

import { EventEmitter } from 'node:events';
import type { MenuItemConstructorOptions, WebContents } from 'electron';
import { expect, test } from 'vitest';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { followPageMenu } from './page-menu.ts';

class FakePage extends EventEmitter {
  level = 0;
  readonly did: string[] = [];
  getZoomLevel = (): number => this.level;
  setZoomLevel = (level: number): void => void (this.level = level);
  replaceMisspelling = (word: string): void => void this.did.push(`replace ${word}`);
  copyImageAt = (x: number, y: number): void => void this.did.push(`picture ${x},${y}`);
}

function rig(isMac = false) {
  const page = new FakePage();
  const menus: MenuItemConstructorOptions[][] = [];
  const logger = new RecordingLogger();
  followPageMenu(page as unknown as WebContents, {
    isMac,
    showMenu: (items) => menus.push(items),
    copyText: (text) => {
      page.did.push(`text ${text}`);
      return text.includes('locked') ? Promise.reject(new Error('the clipboard is in use')) : Promise.resolve();
    },
    logger,
  });
  const rightClick = (about: object) => {
    const editFlags = { canCut: false, canCopy: true, canPaste: true, canSelectAll: true };
    const nothing = { isEditable: false, linkURL: '', mediaType: 'none', misspelledWord: '', dictionarySuggestions: [], selectionText: '' };
    page.emit('context-menu', {}, { x: 3, y: 4, editFlags, ...nothing, ...about });
    return menus.splice(0).flat();
  };
  const press = (key: string, held: object): [prevented: boolean, level: number] => {
    let isPrevented = false;
    const input = { type: 'keyDown', key, control: false, meta: false, alt: false, ...held };
    page.emit('before-input-event', { preventDefault: () => (isPrevented = true) }, input);
    return [isPrevented, page.level];
  };
  return { page, rightClick, press, logger };
}

const namesOf = (items: MenuItemConstructorOptions[]) => items.map(({ role, label, type }) => role ?? label ?? type);
const click = (items: MenuItemConstructorOptions[], label: string): void =>
  (items.find((item) => item.label === label)?.click as (() => void) | undefined)?.();

test('a field can be edited, selected text copied, and on an empty place there is no menu', () => {
  const { rightClick } = rig();
  const field = rightClick({ isEditable: true });
  expect(namesOf(field)).toEqual(['cut', 'copy', 'paste', 'selectAll']);
  expect(field.map(({ enabled }) => enabled)).toEqual([false, true, true, true]);
  expect(namesOf(rightClick({ selectionText: 'words' }))).toEqual(['copy']);
  expect(rightClick({ selectionText: '  ' })).toEqual([]);
});

test('a misspelled word is replaced, a link and a picture are copied; a link within the window has no entry', () => {
  const { page, rightClick } = rig();
  const spelling = rightClick({
    isEditable: true,
    misspelledWord: 'teh',
    dictionarySuggestions: ['the', 'tea', 'ten', 'toe', 'tie', 'tee'],
  });
  expect(namesOf(spelling)).toEqual(['the', 'tea', 'ten', 'toe', 'tie', 'separator', 'cut', 'copy', 'paste', 'selectAll']);
  click(spelling, 'the');
  click(rightClick({ linkURL: 'https://example.org/a' }), 'Copy link');
  click(rightClick({ mediaType: 'image' }), 'Copy picture');
  expect(page.did).toEqual(['replace the', 'text https://example.org/a', 'picture 3,4']);
  expect(rightClick({ linkURL: 'app://trayclaw/#/chat' })).toEqual([]);
});

test('the keys of zooming work without a menu bar, within bounds, and other keys reach the page', () => {
  const { press } = rig();
  expect([press('=', { control: true }), press('+', { control: true }), press('-', { control: true })]).toEqual([
    [true, 0.5],
    [true, 1],
    [true, 0.5],
  ]);
  for (let times = 0; times < 20; times++) press('+', { control: true });
  expect(press('+', { control: true })).toEqual([true, 5]);
  expect(press('0', { control: true })).toEqual([true, 0]);
  const others = [
    press('0', {}),
    press('k', { control: true }),
    press('+', { control: true, alt: true }),
    press('-', { type: 'keyUp', control: true }),
  ];
  expect(others).toEqual(Array.from({ length: 4 }, () => [false, 0]));
  const mac = rig(true);
  expect([mac.press('+', { control: true }), mac.press('+', { meta: true })]).toEqual([
    [false, 0],
    [true, 0.5],
  ]);
});

test('the wheel with the control key zooms', () => {
  const { page } = rig();
  page.emit('zoom-changed', {}, 'in');
  page.emit('zoom-changed', {}, 'in');
  page.emit('zoom-changed', {}, 'out');
  expect(page.level).toBe(0.5);
});

test('a clipboard that takes nothing is logged, and does not end the app', async () => {
  const { rightClick, logger } = rig();
  click(rightClick({ linkURL: 'https://example.org/locked' }), 'Copy link');
  await Promise.resolve();
  expect(logger.lines).toEqual(['warn: a link could not be copied']);
});
