import { expect, test } from 'vitest';
import { formatUsd } from './format-usd.ts';

test('an amount that is not zero never reads as zero', () => {
  expect([0, 0.000_000_3, 0.0001, 0.0012, 0.01, 1.5].map(formatUsd)).toEqual([
    '$0.00',
    '< $0.0001',
    '$0.0001',
    '$0.0012',
    '$0.01',
    '$1.50',
  ]);
});
