// The overlap of two texts.

import { expect, test } from 'vitest';
import { overlap } from './overlap.ts';

test.each([
  ['one two', 'two three', 3],
  ['abab', 'abab', 4],
  ['aab', 'abc', 2],
  ['', 'abc', 0],
  ['abc', '', 0],
  ['abc', 'xyz', 0],
])('%j and %j share %i', (sent, text, length) => {
  expect(overlap(sent, text)).toBe(length);
});
