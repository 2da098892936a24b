import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiteralScanner } from './literal-scanner.ts';

const byJson = (a: readonly number[], b: readonly number[]): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
const folded = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', '\n', '\r'), maxLength: 40 });

test('finds exactly what a search for each literal finds, line breaks ignored', () => {
  fc.assert(
    fc.property(fc.uniqueArray(word, { maxLength: 8 }), folded, (literals, text) => {
      const places = [...text].flatMap((char, index) => (char === '\n' || char === '\r' ? [] : [index]));
      const plain = places.map((index) => text[index]).join('');
      const expected = literals.flatMap((literal, id) =>
        places.flatMap((start, at) => (plain.startsWith(literal, at) ? [[id, start, (places[at + literal.length - 1] ?? 0) + 1]] : [])),
      );
      const found: number[][] = [];
      const open = new LiteralScanner(literals).scan(text, (...hit) => found.push(hit));
      expect(found.toSorted(byJson)).toEqual(expected.toSorted(byJson));
      const begun = places.findIndex((_, at) => literals.some((literal) => literal.startsWith(plain.slice(at))));
      const expectedOpen = begun === -1 ? text.length : (places[begun] ?? 0);
      expect(open).toBe(expectedOpen);
    }),
    { numRuns: 500 },
  );
});
