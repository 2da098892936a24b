import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiteralFinder } from './literal-finder.ts';

const some = (minLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength, maxLength: 5 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '\n', 'ü'), maxLength: 40 });
const skipped = '\n ü';

test.each([2, 3])('finds each literal, and a prefix at the end of the text: heads of %i', (headLength) => {
  fc.assert(
    fc.property(fc.uniqueArray(some(headLength), { minLength: 1, maxLength: 8 }), text, (literals, searched) => {
      const finder = new LiteralFinder(literals.map((literal) => ({ text: literal, about: literal })), { headLength }); // prettier-ignore
      const found: string[] = [];
      const foundOpen = finder.scan(searched, true, (literal, start, end) => found.push(`${start}-${end}:${literal}`));
      const places = [...Array(searched.length).keys()];
      const expected = places.flatMap((start) =>
        literals.flatMap((one) => (searched.startsWith(one, start) ? [`${start}-${start + one.length}:${one}`] : [])),
      );
      expect(found.toSorted()).toEqual(expected.toSorted());
      const open = places.find((start) =>
        literals.some((one) => one.length > searched.length - start && one.startsWith(searched.slice(start))),
      );
      expect(foundOpen).toBe(open ?? searched.length);
    }),
    { numRuns: 500 },
  );
});

test('skips the given characters as if the text did not contain them', () => {
  fc.assert(
    fc.property(fc.uniqueArray(some(2), { minLength: 1, maxLength: 8 }), text, (literals, searched) => {
      const known = literals.map((literal) => ({ text: literal, about: literal }));
      const bare = searched.replace(/[\n ü]/g, '');
      const kept = [...Array(searched.length).keys()].filter((place) => !skipped.includes(searched.charAt(place)));
      const found: [string, number, number][] = [];
      const inBare: [string, number, number][] = [];
      const open = new LiteralFinder(known, { headLength: 2, skipped }).scan(searched, true, (...one) => found.push(one));
      const openInBare = new LiteralFinder(known, { headLength: 2 }).scan(bare, true, (...one) => inBare.push(one));
      expect(found).toEqual(inBare.map(([literal, start, end]) => [literal, kept[start], (kept[end - 1] ?? 0) + 1]));
      expect(open).toBe(openInBare === bare.length ? searched.length : kept[openInBare]);
    }),
    { numRuns: 500 },
  );
});

test('a match compares characters, not only their weights', () => {
  // The low bytes of U+0161 and U+0120 are those of "a" and of a space.
  const finder = new LiteralFinder([{ text: 'cab', about: 'cab' }], { headLength: 3, skipped: ' ' });
  const found: [string, number, number][] = [];
  for (const searched of ['c\u0161b', 'c\u0120ab', 'c ab']) finder.scan(searched, true, (...one) => found.push(one));
  expect(found).toEqual([['cab', 0, 4]]);
});
