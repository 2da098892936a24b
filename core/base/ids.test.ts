import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RandomIds } from './ids.ts';
import { CountingIds } from '../../tests/doubles/counting-ids.ts';

const ULID = /^ses_[0-9A-HJKMNP-TV-Z]{26}$/;

test('an id is a prefix and 26 Crockford base 32 characters, ten of them for the time', () => {
  const id = new RandomIds(() => 1_469_918_176_385).next('ses');
  expect(id).toMatch(ULID);
  // The example of the ULID specification.
  expect(id.slice(4, 14)).toBe('01ARYZ6S41');
});

test('ids ascend within a millisecond, over time, and when the clock is set back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { maxLength: 200 }), (steps) => {
      let nowMs = 1_750_000_000_000;
      const ids = new RandomIds(() => nowMs);
      const made = steps.map((step) => {
        nowMs += step;
        return ids.next('ses');
      });
      expect(made.every((id) => ULID.test(id))).toBe(true);
      expect(made).toEqual([...new Set(made)].sort());
    }),
    { numRuns: 50 },
  );
});

test('CountingIds counts each prefix separately', () => {
  const ids = new CountingIds();
  expect([ids.next('ses'), ids.next('trn'), ids.next('ses')]).toEqual(['ses_1', 'trn_1', 'ses_2']);
});
