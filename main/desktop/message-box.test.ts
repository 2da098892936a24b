// Boxes belong to the window only where they would hold the program up otherwise.

import type { BaseWindow, BrowserWindow, MessageBoxOptions } from 'electron';
import { expect, test } from 'vitest';
import { documentation } from '../../tests/electron/documented.ts';
import { showBox } from './message-box.ts';

test.each([
  ['linux', [{ message: 'x' }]],
  ['win32', [{ message: 'x' }]],
  ['darwin', ['the window', { message: 'x' }]],
] as const)('on %s', async (platform, passed) => {
  const calls: unknown[] = [];
  const dialog = {
    showMessageBox: (first: BaseWindow | MessageBoxOptions, second?: MessageBoxOptions) => {
      calls.push(second === undefined ? [first] : ['the window', second]);
      return Promise.resolve({ response: 1, checkboxChecked: false });
    },
  };
  const window: Pick<BrowserWindow, 'id'> = { id: 1 };
  const place = { dialog, platform, showWindow: () => window as BrowserWindow };
  expect(await showBox(place, { message: 'x' })).toMatchObject({ response: 1 });
  expect(calls).toEqual([passed]);
  expect(documentation()).toContain('since those message boxes run synchronously due to platform limitations');
});
