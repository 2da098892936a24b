import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingText } from './growing-text.ts';

test('gives the joined pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 9_000 }), { maxLength: 20 }), (pieces) => {
      const text = new GrowingText();
      for (const piece of pieces) text.add(piece);
      expect([text.toString(), text.length]).toEqual([pieces.join(''), pieces.join('').length]);
    }),
    { numRuns: 30 },
  );
});
