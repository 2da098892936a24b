import { expect, test } from 'vitest';
import type { ErrorBody } from '../../core/contracts/errors.ts';
import { budgetOffer as offer } from './budget-offer.ts';
import { english } from './i18n/english/whole.ts';
import { Formats } from './i18n/formats.ts';

const wording = { words: english, format: new Formats('en-GB', english.common) };
const budgetOffer = (error: ErrorBody | null) => offer(error, wording);

const ended = (data: Record<string, unknown>): ErrorBody => ({ code: 'over_budget', message: 'Used up.', data });

test('amounts to choose from, in the unit of the limit that was reached', () => {
  expect(budgetOffer(ended({ scope: 'day', unit: 'usd', limit: 10, spent: 10.002, suggested: 1 }))).toEqual({
    scope: 'day',
    unit: 'usd',
    choices: [
      { amount: 1, short: '$1.00', whole: 'Allow $1.00 more for today and continue' },
      { amount: 2, short: '$2.00', whole: 'Allow $2.00 more for today and continue' },
      { amount: 5, short: '$5.00', whole: 'Allow $5.00 more for today and continue' },
    ],
  });
  expect(budgetOffer(ended({ scope: 'turn', unit: 'usd', suggested: 0.1 }))?.choices.map(({ amount }) => amount)).toEqual([0.1, 0.2, 0.5]);
  expect(budgetOffer(ended({ scope: 'session', unit: 'tokens', suggested: 20_000 }))?.choices[0]?.whole).toBe(
    'Allow 20.0k\u{a0}tokens more for this session and continue',
  );
});

test('nothing is offered where it is not known what was reached: an older log, another failure', () => {
  expect([budgetOffer(null), budgetOffer(ended({})), budgetOffer({ code: 'over_budget', message: 'x' })]).toEqual([null, null, null]);
  expect(budgetOffer(ended({ scope: 'year', unit: 'usd', suggested: 1 }))).toBeNull();
});
