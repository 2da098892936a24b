// A search that lists files, piped into a reader: free only with each name as one word, whatever the names are.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  'grep -rl marker src | sort | xargs cat',
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

test('runs with names of any form, none of which is taken for a flag or for other names', needs('a Unix system'), () => {
  const { launch } = look('grep -rl --include=* marker | xargs cat');
  if (launch.kind !== 'line') throw new Error('it is not understood');
  const output = execFileSync('/bin/sh', ['-c', launch.line], { cwd: workspace, env: environment, encoding: 'utf8' });
  const said = [...names.map((name) => `marker ${name}`), 'marker KEY=1', 'marker inside'].join('\n').split('\n');
  expect(output.trimEnd().split('\n').toSorted()).toEqual(said.toSorted());
});
