import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';

const { root, workspace, environment, look, dispose } = commandBench(/(?:^|\/)\.(?:env|ssh|git\/(?:config|hooks))(?:\/|$)/);

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

test('git does not search through a link in the place of a folder of tracked files', () => {
  const repository = join(workspace, 'linked');
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: repository, env: { PATH: environment.PATH, HOME: root } });
  for (const folder of [join(repository, 'sub/deep'), join(root, 'outside/deep'), join(repository, 'other/deep')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'outside/deep/a.txt'), 'KEY');
  writeFileSync(join(repository, 'sub/deep/a.txt'), 'x');
  git('init', '-q');
  git('add', '.');
  const isFree = (line: string): boolean => look(line, environment.PATH, repository).fact.plain?.reads === 'reads this repository';
  expect(['git grep KEY', 'git diff', 'git status'].map(isFree)).toEqual([true, true, true]);
  rmSync(join(repository, 'sub'), { recursive: true });
  symlinkSync(join(root, 'outside'), join(repository, 'sub'));
  expect(git('grep', 'KEY').toString(), 'git itself follows the link').toContain('sub/deep/a.txt:KEY');
  // The other commands compare the link itself.
  expect(['git grep KEY', 'git grep KEY other', 'git diff', 'git status'].map(isFree)).toEqual([false, false, true, true]);
  rmSync(join(repository, 'sub'));
  symlinkSync('other', join(repository, 'sub'));
  expect(isFree('git grep KEY')).toBe(true);
});

test('git shows nothing of the past of a submodule, whatever the settings', () => {
  const repository = join(workspace, 'outer');
  const inner = join(repository, 'inner');
  mkdirSync(inner, { recursive: true });
  const git = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd,
      env: { PATH: environment.PATH, HOME: root, ...look('git diff', environment.PATH, repository).launch.environment },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
  for (const folder of [inner, repository]) git(folder, 'init', '-q');
  writeFileSync(join(inner, '.env'), 'KEY');
  git(inner, 'add', '.');
  git(inner, 'commit', '-qm', 'key');
  git(repository, 'add', 'inner');
  git(repository, 'config', 'diff.submodule', 'diff');
  git(inner, 'rm', '-q', '.env');
  git(inner, 'commit', '-qm', 'no key');
  expect(look('git diff', environment.PATH, repository).fact.plain?.reads).toBe('reads this repository');
  expect([git(repository, 'diff').includes('inner'), git(repository, 'diff').includes('KEY')]).toEqual([true, false]);
});
