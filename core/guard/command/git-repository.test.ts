import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';

const { workspace, environment, look, dispose } = commandBench(/(?:^|\/)\.(?:env|ssh|git\/(?:config|hooks))(?:\/|$)/);

beforeAll(() => {
  for (const folder of ['src', 'hidden/.ssh']) mkdirSync(join(workspace, folder), { recursive: true });
});
afterAll(dispose);

test('allows git to show only tracked content', () => {
  const repository = join(workspace, 'repository');
  mkdirSync(join(repository, 'src'), { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: repository });
  const family = (line: string, cwd = repository) => look(line, environment.PATH, cwd).fact.plain?.family ?? null;
  expect([family('git diff src'), family('git status')]).toEqual([
    ['git', 'diff'],
    ['git', 'status'],
  ]);
  // Git compares two folders outside a repository file by file, tracked or not.
  expect([family('git diff ../hidden ../src'), family('git diff hidden src', workspace)]).toEqual([null, null]);
  writeFileSync(join(repository, '.env'), 'S=1');
  expect(family('git diff')).toEqual(['git', 'diff']);
  execFileSync('git', ['add', '.env'], { cwd: repository });
  expect([family('git diff'), family('git show'), family('git grep S'), family('git status')]).toEqual([
    null,
    null,
    null,
    ['git', 'status'],
  ]);
  expect(family('git -C repository grep S', workspace)).toBe(null);
});

test('git needs no approval for names and present content, only for content that was removed', () => {
  const repository = join(workspace, 'past');
  mkdirSync(join(repository, 'src'), { recursive: true });
  execFileSync('git', ['init', '-q'], { cwd: repository });
  for (const name of ['a.txt', 'main']) writeFileSync(join(repository, name), 'x');
  const isFree = (line: string, cwd = repository): boolean => {
    const { fact, hosts } = look(line, environment.PATH, cwd);
    return fact.plain?.reads === 'reads this repository' && hosts.length === 0;
  };
  const free = [
    'status',
    'log --stat',
    'diff',
    'diff a.txt src',
    'diff HEAD -- a.txt',
    'show HEAD:a.txt',
    'blame a.txt',
    'stash list',
    'grep -n x',
    'grep x a.txt src',
    "grep /x -- '*.md'",
    '-C src status',
    '-C .. -C past grep x',
  ];
  const asked = [
    'log -p',
    'diff HEAD',
    'diff --cached',
    'diff HEAD -- src',
    'diff HEAD -- gone',
    'show HEAD',
    'show HEAD:.env',
    'blame .env',
    'grep x HEAD',
    'grep x .env',
    'grep x ../hidden',
    'grep x -- ../hidden',
    '-C ../.. status',
    '-C gone status',
    '-C a.txt status',
    '-C .git status',
    '-C .. status',
  ];
  expect([...free, ...asked].filter((line) => isFree(`git ${line}`))).toEqual(free);
  expect([isFree('git status', workspace), look('git status', environment.PATH, repository).launch.environment]).toEqual([
    false,
    expect.objectContaining({ GIT_OPTIONAL_LOCKS: '0' }),
  ]);
  execFileSync('git', ['config', 'core.fsmonitor', './evil'], { cwd: repository });
  expect(isFree('git status')).toBe(false);
});
