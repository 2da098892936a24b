import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { workMs } from '../../tests/own-clock.ts';
import { globMatcher, nameMatcher, namesMatcher } from './wildcard.ts';

test.each([
  ['*', ['', 'a', '.a', '日本'], []],
  ['a?c', ['abc', 'a\u{1f600}c'], ['ac', 'abbc']],
  ['*.ts', ['.ts', 'a.ts', 'a.b.ts'], ['a.tsx', 'ats']],
  ['a*b*c', ['abc', 'aXbYc', 'abbcc'], ['acb', 'ab']],
  ['[a].{b}', ['[a].{b}'], ['a.b']],
  ['(a|b)+$', ['(a|b)+$'], ['aa']],
])('the name pattern %s', (pattern, matching, others) => {
  const matches = nameMatcher(pattern);
  expect([...matching, ...others].filter(matches)).toEqual(matching);
});

test('two stars match any number of names', () => {
  const matches = namesMatcher(['src', '**', '*.ts']);
  expect([['src', 'a.ts'], ['src', 'x', 'y', 'a.ts'], ['a.ts'], ['src', 'a.js']].map(matches)).toEqual([true, true, false, false]);
});

const paths = ['a.ts', 'b.tsx', 'src/a.ts', 'src/deep/a.test.ts', 'src/deep/b.js', 'docs/[x].md', 'docs/a-b.md', 'x1', 'x9', '-'];
const globs = [
  '*', '**', '**/*', '**/*.ts', '*.{ts,tsx}', 'src/**', 'src/*/*.{test.ts,js}', '{src,docs}/**/*.{ts,md}', 'x[0-4]', 'x[!0-4]', '[a-z].ts',
  '**/{a,b{c,}}.{ts,js}', '?.ts', 'src/**/deep/*', '[x-]', 'docs/*-*', 'a.{ts}', 'none{', '{a.ts', '**/deep/**', '[!-]',
]; // prettier-ignore

test.each(globs)('the glob %s matches what Node matches', (glob) => {
  expect(paths.filter(globMatcher(glob))).toEqual(paths.filter((path) => matchesGlob(path, glob)));
});

test('a glob sees hidden names and a folder itself, a backslash takes a letter as it is, and too many combinations match nothing', () => {
  expect(['.env', 'a/.git/x'].filter(globMatcher('**'))).toEqual(['.env', 'a/.git/x']);
  expect(['src', 'docs/[x].md'].map((path) => [globMatcher('src/**')(path), globMatcher('docs/\\[x\\].md')(path)])).toEqual([
    [true, false],
    [false, true],
  ]);
  expect(globMatcher('{a,b}'.repeat(9))('a'.repeat(9))).toBe(false);
  expect(globMatcher('{a,b}'.repeat(8))('ab'.repeat(4))).toBe(true);
});

// A backtracking matcher would need longer than the age of the world.
test('many stars take no longer than their number', () => {
  const tookMs = workMs(() => {
    const name = 'a'.repeat(250);
    expect([nameMatcher(`${'*a'.repeat(100)}b`)(name), globMatcher(`**/${'*a'.repeat(100)}b`)(name)]).toEqual([false, false]);
  });
  expect(tookMs).toBeLessThan(2_000);
});
