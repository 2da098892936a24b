import { expect, test } from 'vitest';
import { didYouMean, nearNames } from './near-names.ts';

test.each([
  ['sheduled', ['scheduled', 'sessions'], ['scheduled']],
  ['Tool', ['file', 'tool'], ['tool']],
  ['weather', ['file', 'tool'], []],
  ['reed_file', ['write_file', 'read_file'], ['read_file']],
  ['bud', ['run', 'budget'], ['budget']],
  ['xx', ['on', 'off'], []],
  ['x', [], []],
  ['', ['file'], []],
])('%j resembles, of %j, %j', (name, known, near) => {
  expect(nearNames(name, known)).toEqual(near);
});

test('asks only if there is a name that may be meant', () => {
  expect(didYouMean(['read_file'])).toBe('Did you mean read_file?');
  expect(didYouMean(['read_file', 'write_file'])).toBe('Did you mean read_file or write_file?');
  expect(didYouMean([])).toBeNull();
});
