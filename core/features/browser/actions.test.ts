import { expect, test } from 'vitest';
import { firstLine } from './actions.ts';

test('a failure of the driver is one line without its names, and a time limit is in seconds', () => {
  expect(firstLine(new Error('page.goto: Timeout 29919.247065ms exceeded.\nCall log:'))).toBe('it took longer than 30 s.');
  expect(firstLine(new Error('locator.click: The element is hidden.\nmore'))).toBe('The element is hidden.');
});
