import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TriggerScanner } from './trigger-scanner.ts';

const some = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 2, maxLength: 5 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', '-', '\n', 'ü'), maxLength: 40 });

test('finds exactly what a search for each trigger finds, and what begins at the end', () => {
  fc.assert(
    fc.property(fc.uniqueArray(some, { minLength: 1, maxLength: 8 }), text, (triggers, searched) => {
      const scanner = new TriggerScanner(triggers);
      const found: string[] = [];
      scanner.scan(searched, (id, start) => found.push(`${start}:${triggers[id]}`));
      const places = [...Array(searched.length).keys()];
      const expected = places.flatMap((start) => triggers.flatMap((one) => (searched.startsWith(one, start) ? [`${start}:${one}`] : [])));
      expect(found.toSorted()).toEqual(expected.toSorted());
      const open = places.find((start) =>
        triggers.some((one) => one.length > searched.length - start && one.startsWith(searched.slice(start))),
      );
      expect(scanner.openAt(searched)).toBe(open ?? searched.length);
    }),
    { numRuns: 500 },
  );
});
