import { expect, test } from 'vitest';
import { isBelow, isInside } from './inside-folder.ts';
import { needs } from '../../tests/needs.ts';

test.each([
  ['/a/b', '/a', true, true],
  ['/a', '/a', true, false],
  ['/ab', '/a', false, false],
  ['/', '/a', false, false],
  ['/a', '/', true, true],
  ['/', '/', true, false],
  ['/a/..b', '/a', true, true],
  ['/A/b', '/a', false, false],
  ['/a/../b', '/a', false, false],
])('%s in %s: %s, strictly: %s', needs('a Unix system'), (path, folder, inside, below) => {
  expect([isInside(path, folder), isBelow(path, folder)]).toEqual([inside, below]);
});
