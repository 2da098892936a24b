import { expect, test } from 'vitest';
import { withCurrentWords } from './former-words.ts';

test.each([
  ['helpers list --all', 'subagents list --all'],
  ['--home helpers --json helpers cancel job_1', '--home helpers --json subagents cancel job_1'],
  ['sessions list --helpers', 'sessions list --subagents'],
  ['ask helpers list', 'ask helpers list'],
  ['ask -- --helpers', 'ask -- --helpers'],
  ['--json', '--json'],
])('%s is read as %s', (given, read) => {
  expect(withCurrentWords(given.split(' ')).join(' ')).toBe(read);
});
