// A search that lists files, piped into a reader: free only with each name as one word, whatever the names are.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { needs } from '../../../tests/needs.ts';
import { readsOf } from '../../contracts/tools.ts';

const { root, workspace, look, environment, dispose } = commandBench(/\/\.env$/);
const names = ['a.txt', 'two words.txt', '-n', '--files0-from=list', "it's.txt", 'new\nline.txt', 'src/b.ts'];

beforeAll(() => {
  mkdirSync(join(workspace, 'src'));
  mkdirSync(join(workspace, 'keys'));
  for (const name of names) writeFileSync(join(workspace, name), `marker ${name}\n`);
  writeFileSync(join(workspace, 'keys', '.env'), 'marker KEY=1\n');
  writeFileSync(join(root, 'outside.txt'), 'marker outside\n');
  symlinkSync(join(root, 'outside.txt'), join(workspace, 'src', 'link.txt'));
  // Split at its blanks, this name would be another file.
  mkdirSync(join(workspace, 'x ', root), { recursive: true });
  writeFileSync(join(workspace, 'x ', root, 'outside.txt'), 'marker inside\n');
});
afterAll(dispose);

const closed = (line: string): boolean => look(line).paths.some((path) => !path.insideWorkspace || path.protectedBy !== null);
const isFree = (line: string): boolean => readsOf(look(line).fact) !== null && !closed(line);

test.each([
  'grep -rl marker src | xargs wc -l',
  'grep -rl --include=*.txt marker . | xargs cat',
  'grep -rlZ marker src | xargs -0 head -n 3',
  'grep -rl marker src 2>/dev/null | xargs -n1 cat | sort',
  'grep -rl marker src | sort | xargs cat',
  'rg -l marker src | grep -v link | head -3 | xargs cat',
  "find src -name '*.ts' | grep -vE 'a|c' | sort -u | tail -n +1 | xargs wc -l",
  'find src -type f -print | head -n 2 | xargs cat',
])('is free: %s', (line) => {
  expect([line, isFree(line)]).toEqual([line, true]);
});

test.each([
  'grep -rl marker . | xargs wc -l',
  'grep -rl marker .. | xargs wc -l',
  'grep -rl marker src | xargs cat ../outside.txt',
  'grep -rl marker src | xargs rm',
  'grep -rl marker src | xargs sed -i s/a/b/',
  'grep -rl marker src | xargs sort -o',
  'grep -rl marker src | xargs grep -n',
  'grep -rl marker src | xargs grep -rn x',
  'grep -rl marker src | xargs diff',
  'grep -rl marker src | xargs sh',
  'grep -rl marker src | xargs tee',
  'grep -rl marker src | xargs xargs cat',
  'grep -rl marker src | sort -o src/b.ts | xargs cat',
  'grep -rl marker src | head -c 9 | xargs cat',
  'grep -rl marker src | grep -o b | xargs cat',
  'grep -rl marker src | grep -n b | xargs cat',
  'grep -rl marker src | uniq -c | xargs cat',
  'grep -rl marker src | cut -c2- | xargs cat',
  'grep -rl marker src | sort a.txt | xargs cat',
  'grep -rl marker src | grep b a.txt | xargs cat',
  'grep -rl marker . | sort | xargs cat',
  'grep -rlZ marker src | sort | xargs -0 cat',
  "find . -name '*.env' | head -3 | xargs cat",
  'find . -type f | head -3 | xargs cat',
  'find src -type f -printf %f | head -3 | xargs cat',
  "find src -name a -o -name '*.ts' | head -3 | xargs cat",
  'find src -type f | head -3 | xargs rm',
  'find src -type f | head -3 | xargs sh',
  'grep -rlc marker src | xargs cat',
  'grep -rlo marker src | xargs cat',
  'grep -rh marker src | xargs cat',
  'grep -rl marker src | xargs -0 cat',
  'grep -rlZ marker src | xargs cat',
  'grep -rl marker src | xargs -a list cat',
  'grep -rl marker src > list | xargs cat',
  'grep -l marker a.txt | xargs cat',
  'grep -rl marker -- -n | xargs cat',
  'cat a.txt | xargs cat',
])('asks: %s', (line) => {
  expect([line, isFree(line)]).toEqual([line, false]);
});

describe('in a repository', () => {
  const bench = commandBench(/\/\.env$/);
  const { workspace: folder } = bench;
  const git = (...args: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
  const add = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
    git('add', '-A');
    git('reset', '-q', 'own.env');
  };
  const openly = (line: string): boolean => {
    const { fact, paths } = bench.look(line);
    return readsOf(fact) !== null && paths.every((path) => path.insideWorkspace && path.protectedBy === null);
  };

  beforeAll(() => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    writeFileSync(join(folder, 'own.env'), '');
    add('two words.txt', 'marker a\n');
    add('b.txt', 'marker b\n');
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys', '.env'), 'marker KEY=1\n');
    writeFileSync(join(folder, '.gitignore'), 'keys\n');
  });
  afterAll(bench.dispose);

  test.each([
    'git ls-files | xargs wc -l',
    "git ls-files -z '*.txt' | xargs -0 head -n 1",
    'git ls-files | grep -v two | xargs cat',
    'git grep -l marker | xargs sed -n 1,5p',
    'git grep -il marker -- b.txt | sort | xargs -n1 basename',
    'git diff --no-index b.txt "two words.txt"',
  ])('is free: %s', (line) => {
    expect([line, openly(line)]).toEqual([line, true]);
  });

  test.each([
    'git ls-files -o | xargs cat',
    'git ls-files -s | xargs cat',
    'git ls-files | xargs awk 1',
    'git ls-files | xargs env',
    'git ls-files | xargs rm',
    'git ls-files | xargs sh',
    'git ls-files | xargs sed -i s/a/b/',
    'git grep marker | xargs cat',
    'git grep -l --full-name marker | xargs cat',
    'git diff --name-only | xargs cat',
    'git diff --no-index b.txt keys/.env',
    'git diff --no-index keys .',
    'git diff --no-index b.txt ../outside.txt',
  ])('asks: %s', (line) => {
    expect([line, openly(line)]).toEqual([line, false]);
  });

  test('opens the tracked files, whatever blanks are in their names', needs('a Unix system'), () => {
    const { launch } = bench.look("git ls-files '*.txt' | sort -r | xargs cat");
    if (launch.kind !== 'line') throw new Error('it is not understood');
    expect(execFileSync('/bin/sh', ['-c', launch.line], { cwd: folder, encoding: 'utf8' })).toBe('marker a\nmarker b\n');
  });

  test('no grant for comparisons covers one of folders, whose files git need not track', () => {
    expect(bench.look('git diff --no-index b.txt "two words.txt"').fact.plain?.family).toEqual(['git', 'diff']);
    expect(bench.look('git diff --no-index keys .').fact.plain?.family).toBeNull();
  });

  test.each([
    ['a name that looks like a flag', () => add('-n', 'x')],
    ['a link that leads out', () => (symlinkSync('/etc/hostname', join(folder, 'link')), add('c.txt', 'x'))],
    ['a tracked file that holds keys', () => add('.env', 'KEY=1')],
  ])('asks because of %s', (_, make) => {
    make();
    expect(openly('git ls-files | xargs cat')).toBe(false);
    git('reset', '-q');
    for (const name of ['-n', 'link', '.env']) rmSync(join(folder, name), { force: true });
    expect(openly('git ls-files | xargs cat')).toBe(true);
  });
});

test('runs with names of any form, none of which is taken for a flag or for other names', needs('a Unix system'), () => {
  const { launch } = look('grep -rl --include=* marker | xargs cat');
  if (launch.kind !== 'line') throw new Error('it is not understood');
  const output = execFileSync('/bin/sh', ['-c', launch.line], { cwd: workspace, env: environment, encoding: 'utf8' });
  const said = [...names.map((name) => `marker ${name}`), 'marker KEY=1', 'marker inside'].join('\n').split('\n');
  expect(output.trimEnd().split('\n').toSorted()).toEqual(said.toSorted());
});
