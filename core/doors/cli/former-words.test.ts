import { expect, test } from 'vitest';
import { valued, withCurrentWords } from './former-words.ts';
import { buildProgram } from './kernel/program.ts';

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

test('the options that take a value are those of the program', async () => {
  const { options } = await buildProgram({ version: '1', run: () => Promise.resolve(), words: [] });
  expect([...valued]).toEqual(options.filter(({ required }) => required).map(({ long }) => long));
});
