import { expect, test } from 'vitest';
import { readGit } from './git-form.ts';

const git = (line: string) => readGit(line.split(' '));

test('knows git commands that only read', () => {
  expect(git('status -sb -- src')).toMatchObject({ family: ['git', 'status'], operands: ['src'], showsContent: false });
  expect(git('--no-pager log --oneline -5 HEAD~2 -- a')).toMatchObject({
    family: ['git', 'log'],
    operands: ['HEAD~2', 'a'],
    showsContent: true,
  });
  expect(git('show HEAD:.env')).toMatchObject({ family: ['git', 'show'], operands: ['HEAD:.env', '.env'], showsContent: true });
  expect(git('-C a --no-pager -C b diff c')).toMatchObject({ family: ['git', 'diff'], folders: ['a', 'b'], operands: ['c'] });
  expect(git('grep -n /etc/x')).toMatchObject({ family: ['git', 'grep'], operands: [], showsContent: true });
  expect(git('grep -e x a -- *.ts')).toMatchObject({ operands: ['a', '*.ts'], reach: { kind: 'exist', paths: ['a'] } });
  expect(git('branch -a')).toMatchObject({ family: ['git', 'branch'], operands: [], showsContent: false });
  const refused = [
    '-c core.pager=x status',
    '-C',
    '-C x',
    '-Cx status',
    '-C x -c a=b status',
    '-p status',
    '--git-dir=x status',
    '--exec-path=x status',
    'show --output=x',
    'diff --no-index a b',
  ];
  const more = [
    'diff --ext-diff',
    'log --textconv',
    'log --format=%G?',
    'log --format=%+G?',
    'show --pretty=%h%-GS',
    'log --format=%-(trailers)',
    'branch --sort=-signature:key',
    'tag -l --sort signature',
    'branch x',
    'branch -D x',
    'branch -l x',
    'tag x',
    'tag -d x',
    'commit',
    'push',
    'status --outp',
    'stash list -p',
    'stash list --output=x',
    'stash',
    'stash pop',
    'remote add x y',
    'remote -v update',
    'remote show origin',
    'remote get-url --add x y',
    'reflog delete x',
    'reflog expire',
    'worktree add x',
    'worktree',
    'rev-list --objects HEAD',
    'ls-tree --format=x HEAD',
    'cat-file -p HEAD',
    'cat-file --textconv HEAD:x',
    'cat-file --batch',
    'check-ignore --stdin',
    'shortlog --format=%GG',
    'config --list',
    'grep',
    'grep -n',
    'grep -- x',
    'grep -O x',
    'grep -Oless x',
    'grep --open-files-in-pager=x y',
    'grep --textconv x',
    'grep --no-index x',
    'grep --untracked x',
    'grep --cached x',
    'grep -f a x',
    'constructor',
    'log -O x',
    'show --textconv HEAD',
    'show --ext-diff HEAD',
    'log -p -m',
    'log -p --remerge-diff',
    'show --submodule=diff HEAD',
    'diff --submodule=log HEAD~1',
    'log -p --walk-reflogs',
    'log -p -g',
    'log -p --stdin',
    'log -p --not HEAD',
    'log -p --glob=*',
    'log -p --exclude=x --all',
    'show --show-signature',
    '-c diff.external=x diff HEAD~1',
    '--git-dir=x show HEAD',
    '',
  ];
  expect([...refused, ...more].filter((line) => git(line) !== null)).toEqual([]);
});

test.each([
  ['status', { kind: 'present' }],
  ['log --oneline -5 -- a', { kind: 'present' }],
  ['log --stat', { kind: 'present' }],
  ['diff --stat HEAD~3', { kind: 'present' }],
  ['show HEAD:a', { kind: 'present' }],
  ['show v1.2:src/a', { kind: 'present' }],
  ['show -s HEAD~2', { kind: 'present' }],
  ['blame -L 1,5 a', { kind: 'present' }],
  ['stash list', { kind: 'present' }],
  ['diff', { kind: 'exist', paths: [] }],
  ['grep x', { kind: 'exist', paths: [] }],
  ['grep x HEAD -- a', { kind: 'exist', paths: ['HEAD'] }],
  ['diff a b', { kind: 'exist', paths: ['a', 'b'] }],
  ['diff HEAD~1 -- a', { kind: 'files', paths: ['a'] }],
  ['log -p -- a', { kind: 'files', paths: ['a'] }],
])('%s shows names and %j', (line, reach) => {
  expect(git(line)?.reach).toEqual(reach);
});

test.each([
  'log -p',
  'log -S key',
  'log -G key --oneline',
  'log -p --follow -- a',
  'log -p -- :!a',
  'log -p -- *.txt',
  'diff --cached',
  'diff --staged',
  'diff --stat -p HEAD~1',
  'diff -- :(exclude)a',
  'show',
  'show HEAD',
  'show --stat abc1234',
  'show --stat v1',
  'show -p HEAD:a HEAD',
  'show HEAD^{/a:b}:.env',
  'show :/text',
  'show abc1234',
])('%s may show content that was removed', (line) => {
  expect(git(line)?.reach).toEqual({ kind: 'past' });
});
