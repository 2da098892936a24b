// Patterns expand to the names that the shell finds. A line that only reads the matching files is known to read.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { expandPatterns } from './pattern-words.ts';

const { workspace, environment, look, dispose } = commandBench(/\.pem$|\.env$/);

beforeAll(() => {
  for (const folder of ['src/deep', 'lib', 'odd', 'many']) mkdirSync(join(workspace, folder), { recursive: true });
  for (const file of [
    'a.ts',
    'b.ts',
    'ab.md',
    '.env',
    'src/c.ts',
    'src/deep/d.ts',
    'lib/e.ts',
    "odd/it's.txt",
    'odd/-n.txt',
    'odd/a b.txt',
    'odd/a+b.txt',
  ])
    writeFileSync(join(workspace, file), 'x\n');
  writeFileSync(join(workspace, 'odd', 'a\nb.log'), 'x\n');
  writeFileSync(join(workspace, 'lib', 'key.pem'), 'x\n');
  symlinkSync('/etc/hostname', join(workspace, 'src', 'out.link'));
  symlinkSync('/etc', join(workspace, 'outer'));
  symlinkSync('nowhere', join(workspace, 'src', 'gone.link'));
  for (let index = 0; index < 501; index += 1) writeFileSync(join(workspace, 'many', `${index}.x`), '');
});
afterAll(dispose);

const argumentsOf = (line: string): string[] =>
  execFileSync('/bin/sh', ['-c', `for word in ${line}; do printf '%s\\0' "$word"; done`], {
    cwd: workspace,
    env: { ...environment, LC_ALL: 'C' },
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);

test.each([
  '*.ts',
  '*',
  'src/*',
  '*/*.ts',
  's?c/?.ts',
  '*/',
  '*/deep',
  'src/*/d.ts',
  'odd/*.txt',
  'no*',
  'a.ts/*',
  '--x=*.ts',
  'a.ts *.md "*.ts" b*',
  '/etc/host*',
  'a+*',
  'a..*',
  'src/../*.md',
  'src/*.link',
  './*.ts',
  'src//*.ts',
])('finds the same names as the shell for %s', (line) => {
  const written = expandPatterns(line, workspace);
  expect(written).not.toBeNull();
  expect(argumentsOf(written ?? '')).toEqual(argumentsOf(line));
  expect(written?.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/[*?]/);
});

test.each(['ls', '"*"', "'a*'", '.*', 'src/.*', '**/*.ts', 'a\\ *', "'a'*", '*"a"', '*[ab]', '{a,b}*', '$x*', '~/*', '!*', 'many/*', '"*'])(
  '%s is not expanded',
  (line) => {
    expect(expandPatterns(line, workspace)).toBeNull();
  },
);

test('a pattern below an inaccessible name matches nothing', () => {
  const long = 'a'.repeat(300);
  expect([`cat ${long}/*`, `cat */${long}`].map((line) => expandPatterns(line, workspace))).toEqual([`cat '${long}/*'`, `cat '*/${long}'`]);
});

test('a line that only reads the files its patterns match is known to read them', () => {
  expect(look('wc -l *.ts')).toMatchObject({
    fact: { line: 'wc -l *.ts', plain: { reads: 'counts lines, words and bytes', argv: ['wc', '-l', 'a.ts', 'b.ts'] } },
    launch: { kind: 'plain', argv: ['wc', '-l', 'a.ts', 'b.ts'] },
  });
  expect(look('cd src && cat *.ts | head').fact).toMatchObject({
    line: 'cat *.ts | head',
    cwd: join(workspace, 'src'),
    joined: { needs: [] },
  });
  expect(look('grep -rn foo src --include=*.ts').fact.plain?.reads).toBe('searches in files');
});

test('a backslash in quotes is part of its text; outside of quotes it may make a pattern literal', () => {
  expect(look(String.raw`printf '%s\n' src/*.ts`).fact.joined ?? look(String.raw`printf '%s\n' src/*.ts`).fact.plain).toMatchObject({
    reads: 'prints text',
  });
  expect(expandPatterns(String.raw`printf '%s\n' src/*.ts`, workspace)).toBe(String.raw`printf '%s\n' 'src/c.ts'`);
  expect(expandPatterns(String.raw`cat "a\"" *.md`, workspace)).toBe(String.raw`cat "a\"" 'ab.md'`);
  for (const line of [String.raw`cat \*.ts`, String.raw`cat "a\"*.ts`, String.raw`cat a\ *.ts`])
    expect(expandPatterns(line, workspace)).toBeNull();
});

test('checks every matching file: protected files and targets of links', () => {
  expect(look('cat lib/*').paths.map(({ protectedBy }) => protectedBy)).toEqual([null, 'secret']);
  expect(look('cat src/*.link').paths.some(({ insideWorkspace }) => !insideWorkspace)).toBe(true);
});

test.each([
  ['echo ../*', '../'],
  ["printf '%s' /et?/*", '/etc/'],
  ['for f in /etc/host*; do echo "$f"; done', '/etc/'],
  ['echo out*/x', 'outer/'],
])('a pattern that shows the names of a folder outside reads that folder: %s', (line, folder) => {
  expect(
    look(line)
      .paths.filter(({ insideWorkspace }) => !insideWorkspace)
      .map(({ given }) => given),
  ).toContain(folder);
});

test.each([
  'rm *.ts',
  'node *.ts',
  '* a.ts',
  'cp odd/* src',
  'ls *.ts > *.x',
  'cat odd/*.log',
  'sort odd/* -o x',
  'xargs cat *.ts',
  'cat odd/*',
])('a pattern makes no other command known: %s', (line) => {
  expect(look(line).fact).toEqual({ line, cwd: workspace, unclear: expect.any(String) });
});
