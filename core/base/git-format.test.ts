import { expect, test } from 'vitest';
import { applyDelta, readPackEntry, readTree } from './git-format.ts';

const id = Buffer.alloc(20, 7);
const hex = '07'.repeat(20);

test('reads the head of an entry with a size in several bytes, and what a delta changes', () => {
  expect(readPackEntry(Buffer.from([0x95, 0x0a]), 0)).toEqual({ kind: 'commit', size: 165, base: null, contentAt: 2 });
  expect(readPackEntry(Buffer.from([0, 0x61, 0x80, 0x01]), 1)).toEqual({ kind: null, size: 1, base: 129, contentAt: 4 });
  expect(readPackEntry(Buffer.concat([Buffer.from([0x71]), id]), 0)).toEqual({ kind: null, size: 1, base: hex, contentAt: 21 });
});

test.each([
  ['no type', [0x01]],
  ['a type that does not exist', [0x51]],
  ['a size that is cut off', [0x95]],
  ['an id that is cut off', [0x71, 7, 7]],
])('refuses the head of an entry with %s', (_what, bytes) => {
  expect(() => readPackEntry(Buffer.from(bytes), 0)).toThrow(RangeError);
});

test('applies copies and insertions', () => {
  expect(applyDelta(Buffer.from('hello'), Buffer.from([5, 6, 0x91, 1, 3, 3, 33, 33, 33]), 100).toString()).toBe('ell!!!');
});

test.each([
  ['for another object', [4, 1, 1, 33]],
  ['with a longer result than is allowed', [5, 0x7f, 1, 33]],
  ['that copies from beyond the end', [5, 3, 0x91, 4, 3]],
  ['that is cut off', [5, 3, 3, 33]],
  ['with a reserved operation', [5, 1, 0, 33]],
  ['with a shorter result than it says', [5, 2, 1, 33]],
  ['with a longer result than it says', [5, 1, 2, 33, 33]],
])('refuses a delta %s', (_what, bytes) => {
  expect(() => applyDelta(Buffer.from('hello'), Buffer.from(bytes), 100)).toThrow(RangeError);
});

test('reads the entries of a tree, and refuses a damaged one', () => {
  const entry = (head: string) => Buffer.concat([Buffer.from(`${head}\0`), id]);
  const tree = Buffer.concat([entry('100644 a b'), entry('40000 ä')]);
  expect(readTree(tree)).toEqual([
    { mode: '100644', name: Buffer.from('a b'), id: hex },
    { mode: '40000', name: Buffer.from('ä'), id: hex },
  ]);
  expect(readTree(Buffer.alloc(0))).toEqual([]);
  for (const bad of [tree.subarray(0, -1), entry('100644 '), entry('100644 a/b'), entry('1 a'), entry('100644'), Buffer.from('100644 a')])
    expect(() => readTree(bad)).toThrow(RangeError);
});
