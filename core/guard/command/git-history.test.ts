// Git may show commits without an approval if no file in them has a protected name. Compared with git itself, on loose and packed objects.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { readsOf } from '../../contracts/tools.ts';
import { mergeBaseOf, namesInHistory, type GitHistory } from './git-history.ts';

const { workspace, look, environment, dispose } = commandBench(/(?:^|\/)\.env$/);
const repository = join(workspace, 'repository');
const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', '-c', 'core.quotepath=off', ...args], {
    cwd: repository,
    encoding: 'utf8',
    env: { ...environment, GIT_CONFIG_NOSYSTEM: '1' },
  });
const write = (name: string, text: string): void => {
  mkdirSync(dirname(join(repository, name)), { recursive: true });
  writeFileSync(join(repository, name), text);
};
const commit = (files: Readonly<Record<string, string | null>>): string => {
  for (const [name, text] of Object.entries(files)) {
    if (text === null) rmSync(join(repository, name));
    else write(name, text);
  }
  git('add', '-A');
  git('commit', '-qm', Object.keys(files).join(' '));
  return git('rev-parse', 'HEAD').trim();
};
const folders = { own: join(repository, '.git'), common: join(repository, '.git') };
const namesOf = (history: GitHistory): readonly string[] | null => namesInHistory(history, folders)?.toSorted() ?? null;
const isFree = (line: string): boolean => look(`git ${line}`, environment.PATH, repository).fact.plain?.reads === 'reads this repository';
const reads = (line: string): boolean => readsOf(look(`git ${line}`, environment.PATH, repository).fact) !== null;
const many = Array.from({ length: 400 }, (_, index) => `line ${index}`).join('\n');
let oldCommit = '';
let withKey = '';

beforeAll(() => {
  mkdirSync(repository, { recursive: true });
  git('init', '-q', '-b', 'main');
  oldCommit = commit({ 'a.txt': many, 'src/b.ts': 'b', 'src/deep/c.ts': 'c' });
  withKey = commit({ 'conf/.env': 'KEY=1', 'a.txt': `${many}\nmore` });
  commit({ 'conf/.env': null, 'src/b.ts': 'bb' });
  git('checkout', '-qb', 'topic/one');
  commit({ 'src/deep/é d.ts': 'd', 'a.txt': `first\n${many}\nmore` });
  git('checkout', '-q', 'main');
  commit({ 'main.txt': 'm' });
  git('merge', '-q', '--no-edit', 'topic/one');
  commit({ 'last.txt': 'l' });
  git('tag', 'light');
  git('tag', '-a', '-m', 'v1', 'v1');
});
afterAll(dispose);

const free = [
  'show',
  'show HEAD',
  'show @~1',
  'show light',
  'show topic/one',
  'show --stat -p HEAD',
  'show HEAD~1^2 HEAD',
  'log -p -2',
  'log -p -n 1 topic/one',
  'log --oneline -p --max-count=2',
  'diff HEAD',
  'diff HEAD~2',
  'diff --cached',
  'diff HEAD~2 HEAD',
  'diff HEAD~2..HEAD',
  'diff main...HEAD -- src',
  'diff HEAD...topic/one',
  'diff HEAD~2...topic/one',
  'diff HEAD~1..',
  'diff main topic/one -- ',
  'diff -- src',
  'diff -- src gone a.txt',
  'diff --cached -- src',
  'diff HEAD -- src',
  'diff HEAD~2 HEAD -- src gone',
  'show HEAD -- src',
  'show --stat -p HEAD~1 HEAD -- src',
];
const asked = [
  // The key was removed three commits before.
  'show HEAD~3',
  'show HEAD~3 -- src',
  'diff HEAD~4 -- src',
  'diff HEAD~4 HEAD -- src',
  'log -p -n 1 -- src',
  'diff --merge-base HEAD -- src',
  'log -p',
  'log -p -4',
  'log -p -S KEY -n 1',
  'log -p -n 1 --author=x',
  'log -p -n 1 --all',
  'log -p -n 1 --skip=3',
  'log -p -n -1',
  'log -p -n 1 HEAD~3',
  'log -p HEAD~5..HEAD',
  'log -p -n 1 main topic/one',
  'show --all',
  'show -1',
  'show -n 4',
  'show --max-count=4 HEAD',
  'show --since=2000-01-01',
  'show HEAD~2..HEAD',
  'diff HEAD~4 HEAD~3',
  'diff HEAD~4',
  'diff HEAD~4...HEAD~3',
  'diff HEAD...HEAD...HEAD',
  'diff --merge-base HEAD~1',
  'show v1',
  'show gone',
  'show HEAD~90',
  'show HEAD^3',
  'show refs',
  'show :/last',
  'show HEAD^{/last}',
  'show HEAD@{1}',
  'show HEAD^{tree}',
  'show HEAD^!',
  'show ..',
];

function judged(): void {
  expect([...free, ...asked].filter(isFree)).toEqual(free);
  expect([isFree(`show ${oldCommit}`), isFree(`show ${oldCommit.slice(0, 9)}`)]).toEqual([true, true]);
  expect([isFree(`show ${withKey}`), isFree(`show ${withKey.slice(0, 9)}`), isFree(`diff ${withKey} HEAD`)]).toEqual([false, false, false]);
  const key = git('rev-parse', `${withKey}:conf/.env`).trim();
  const tree = git('rev-parse', `${withKey}^{tree}`).trim();
  expect([key, key.slice(0, 8), tree].map((id) => isFree(`show ${id}`))).toEqual([false, false, false]);
}

function namesOfGit(...args: readonly string[]): readonly string[] {
  return [...new Set(git(...args, '--name-only', '--no-renames', '-z').split('\0'))].filter((name) => name !== '').sort();
}

function compared(): void {
  for (const id of git('rev-list', '--all').trim().split('\n')) {
    expect(namesOf({ kind: 'commits', revisions: [id], depthMax: 1 })).toEqual(namesOfGit('show', '-m', '--format=', id));
    expect(namesOf({ kind: 'between', revisions: [id, 'HEAD'] })).toEqual(namesOfGit('diff', id, 'HEAD'));
    expect(namesOf({ kind: 'parted', revisions: ['HEAD~1', id] })).toEqual(namesOfGit('diff', `HEAD~1...${id}`));
    expect(namesOf({ kind: 'files', revisions: [id] })).toEqual(git('ls-tree', '-r', '-z', '--name-only', id).split('\0').filter(Boolean).sort()); // prettier-ignore
  }
  const all = { kind: 'commits', revisions: ['HEAD'], depthMax: Infinity } as const;
  expect(namesOf(all)).toEqual(namesOfGit('log', '-m', '--format=', 'HEAD'));
  for (const count of [1, 2, 3, 4]) {
    const some = namesOf({ ...all, depthMax: count }) ?? [];
    expect(namesOfGit('log', '-m', '--format=', '-n', `${count}`).filter((name) => !some.includes(name))).toEqual([]);
  }
}

test('content of the past with only open names needs no approval', judged);

test('finds the names that git finds', compared);

test('finds the same in packs, with deltas and packed refs', () => {
  git('gc', '-q', '--aggressive', '--prune=now');
  expect(git('count-objects')).toBe('0 objects, 0 kilobytes\n');
  compared();
  judged();
});

test('finds where two histories part as git does, and only if there is one such place', () => {
  const names = ['main', 'topic/one', 'light', 'HEAD~1', 'HEAD~1^1', 'HEAD~2', 'HEAD~3', oldCommit, withKey];
  const byGit = (pair: readonly string[]): string => git('merge-base', '--all', ...pair).trim();
  for (const first of names)
    for (const second of names)
      expect([first, second, mergeBaseOf([first, second], folders)]).toEqual([first, second, byGit([first, second])]);
  const known = [
    'diff $(git merge-base HEAD~1 topic/one)',
    'log --oneline $(git merge-base HEAD~1^1 topic/one)..HEAD',
    'diff topic/one...HEAD',
  ];
  for (const line of [...known, 'diff --stat "$(git merge-base main topic/one)"']) expect([line, reads(line)]).toEqual([line, true]);
  const closed = [
    `diff $(git merge-base ${oldCommit} HEAD) ${withKey}`,
    `diff ${oldCommit}...${withKey}`,
    'diff $(git merge-base HEAD missing)',
  ];
  const odd = ['diff $(git merge-base HEAD; touch x)', 'diff $(git -C src merge-base HEAD main)', 'push $(git merge-base HEAD main)'];
  for (const line of [...closed, ...odd, 'diff main...missing']) expect([line, reads(line)]).toEqual([line, false]);
  // Each of two branches has the other one's commit.
  git('checkout', '-qb', 'left', 'main');
  const left = commit({ 'left.txt': 'l' });
  git('checkout', '-qb', 'right', 'main');
  const right = commit({ 'right.txt': 'r' });
  git('merge', '-q', '--no-edit', left);
  git('checkout', '-q', 'left');
  git('merge', '-q', '--no-edit', right);
  expect([byGit(['left', 'right']).split('\n').length, mergeBaseOf(['left', 'right'], folders)]).toEqual([2, null]);
  git('checkout', '-q', 'main');
  git('branch', '-qD', 'left', 'right');
});

test('a history that git takes from elsewhere is not known', () => {
  const isKnown = (): boolean => isFree('show HEAD');
  const known = [isKnown()];
  git('replace', 'HEAD', withKey);
  known.push(isKnown());
  git('pack-refs', '--all');
  known.push(isKnown());
  git('replace', '-d', 'HEAD');
  rmSync(join(repository, '.git', 'refs', 'replace'), { recursive: true, force: true });
  git('pack-refs', '--all');
  known.push(isKnown());
  for (const [name, text] of [
    ['shallow', `${oldCommit}\n`],
    ['info/grafts', `${git('rev-parse', 'HEAD').trim()} ${withKey}\n`],
  ] as const) {
    mkdirSync(dirname(join(repository, '.git', name)), { recursive: true });
    writeFileSync(join(repository, '.git', name), text);
    known.push(isKnown());
    rmSync(join(repository, '.git', name));
  }
  expect(known).toEqual([true, false, false, true, false, false]);
});

test('a name with two meanings, and a submodule, are not known', () => {
  git('branch', 'light', withKey);
  expect(isFree('show light')).toBe(false);
  git('branch', '-D', 'light');
  expect(isFree('show light')).toBe(true);
  git('update-index', '--add', '--cacheinfo', `160000,${oldCommit},inner`);
  git('commit', '-qm', 'inner');
  expect([isFree('show HEAD'), isFree('show HEAD~1')]).toEqual([false, true]);
});

test('settings and attributes that run a program still ask', () => {
  for (const [key, value] of [
    ['diff.x.textconv', './evil'],
    ['diff.external', './evil'],
    ['log.showSignature', 'true'],
  ] as const) {
    git('config', key, value);
    expect([key, isFree('show HEAD~1')]).toEqual([key, false]);
    git('config', '--unset', key);
  }
  expect(
    ['show --ext-diff HEAD~1', 'show --textconv HEAD~1', 'show --show-signature HEAD~1', 'log -p -1 --format=%G?'].filter(isFree),
  ).toEqual([]);
  expect(isFree('show HEAD~1')).toBe(true);
  // A repository whose objects are not whole.
  rmSync(join(repository, '.git', 'objects', 'pack'), { recursive: true });
  expect(isFree('show HEAD~1')).toBe(false);
});
