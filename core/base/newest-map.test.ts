import { expect, test } from 'vitest';
import { NewestMap } from './newest-map.ts';

test('a new key beyond the limit drops the oldest entry; a known key drops none', () => {
  const map = new NewestMap<string, number>(2).set('a', 1).set('b', 2);
  expect([...map.set('a', 3)]).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
  expect([...map.set('c', 4)]).toEqual([
    ['b', 2],
    ['c', 4],
  ]);
});
