import { expect, test } from 'vitest';
import { GuessLimit } from './guess-limit.ts';

test('wrong codes are counted within an hour, whatever the clock is set to', () => {
  const clock = { aheadMs: 86_400_000, passedMs: 0, nowMs: () => clock.aheadMs + clock.passedMs, monotonicMs: () => clock.passedMs };
  const limit = new GuessLimit(clock);
  for (let wrong = 0; wrong < 5; wrong += 1) limit.count('ada');
  expect([limit.isReached('ada'), limit.isReached('bob')]).toEqual([true, false]);
  clock.aheadMs = 0;
  expect(limit.isReached('ada')).toBe(true);
  clock.passedMs += 3_600_001;
  expect(limit.isReached('ada')).toBe(false);
});
