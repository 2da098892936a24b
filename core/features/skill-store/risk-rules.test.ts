import { expect, test } from 'vitest';
import { riskRules } from './risk-rules.ts';

const rulesFor = (text: string): readonly string[] => riskRules.filter(({ pattern }) => pattern.test(text)).map(({ rule }) => rule);

test.each([
  ['rm -rf ~/.cache/pre-commit', false],
  ['RUN rm -rf /var/lib/apt/lists/*', false],
  ['rm -rf ~/.cache/x/../../Documents', true],
  ['rm -rf /var/lib/apt/lists/../../../home', true],
  ['rm -rf ~/Documents', true],
])('%s deletes more than its own files: %s', (text, isHarm) => {
  expect(rulesFor(text).includes('destroys')).toBe(isHarm);
});
