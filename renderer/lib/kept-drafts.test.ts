import { expect, test } from 'vitest';
import { keepDrafts, readDrafts } from './kept-drafts.ts';

function storage(first: string | null = null) {
  let held = first;
  return { getItem: () => held, setItem: (_key: string, text: string) => void (held = text) };
}

test('what was typed is there again; empty and huge texts and the oldest are left out', () => {
  const store = storage();
  keepDrafts(store, { a: 'half a thought', b: ' ', c: 'x'.repeat(200_000) });
  expect(readDrafts(store)).toEqual({ a: 'half a thought' });
  keepDrafts(store, Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`s${at}`, 'text'])));
  expect([Object.keys(readDrafts(store)).length, readDrafts(store)['s39']]).toEqual([30, 'text']);
});

test('a storage with something else, or a full one, is not a reason to fail', () => {
  expect([storage('no json'), storage('[1]'), storage('{"a":1}'), storage()].map(readDrafts)).toEqual([{}, {}, {}, {}]);
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error('quota');
    },
  };
  expect(() => keepDrafts(full, { a: 'text' })).not.toThrow();
});
