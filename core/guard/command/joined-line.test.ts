// Lines of several commands are as safe as their parts, or need approval as a whole.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { readsOf } from '../../contracts/tools.ts';
import { ContentHashes } from './content-hash.ts';
import { lookAtPlain } from './plain-command.ts';

const { root, workspace, environment, places, look, dispose } = commandBench(/\/\.env$/);

beforeAll(() => {
  mkdirSync(join(workspace, 'bin'), { recursive: true });
  writeFileSync(join(workspace, 'a.txt'), 'a');
  writeFileSync(join(workspace, '.env'), 'S=1');
  writeFileSync(join(workspace, 'package.json'), JSON.stringify({ scripts: { test: 'vitest run' } }));
  writeFileSync(join(workspace, 'bin', 'ls'), '#!/bin/sh\n', { mode: 0o755 });
});
afterAll(dispose);

test.each([
  ['ls && pwd', 'lists files and prints the folder it runs in'],
  ['ls | grep ts', 'lists files and searches in files'],
  ['cat a.txt | head -n 3 | wc -l', 'prints files, prints the beginning of files and counts lines, words and bytes'],
  ['cat a.txt || echo none', 'prints files and prints text'],
  ['ls; cat a.txt', 'lists files and prints files'],
  ['ls\ncat a.txt', 'lists files and prints files'],
  ['ls missing 2>/dev/null', 'lists files'],
  ['ls missing 2>&1 | head', 'lists files and prints the beginning of files'],
  ['ls a\\;b\\ c | head', 'lists files and prints the beginning of files'],
  ['echo "a && b" | wc', 'prints text and counts lines, words and bytes'],
])('joined readers read: %s', (line, reads) => {
  expect(look(line).fact).toMatchObject({ joined: { reads, needs: [] } });
});

test.each([
  'ls && rm a.txt',
  'rm a.txt && ls',
  'ls | sh',
  'ls | xargs cat',
  'ls >> /dev/null.txt',
  'ls & cat a.txt',
  'ls |& cat',
  'ls &>/dev/null',
  'cd src && ls',
  'export A=1; ls',
  'A=1 ls && ls',
  'ls && $(cat a.txt)',
  'ls && `cat a.txt`',
  'ls\nrm a.txt',
  'ls;; cat a.txt',
  'ls && (cat a.txt)',
  '! ls && ls',
  'time ls | wc',
  'ls && ./bin/ls',
  "ls && echo 'a",
  'npm test | head',
  'npm test && ls',
  'ls && npm test extra > x',
  'ls \\\\; rm x',
  'ls \\\\| sh',
  'ls \\\n; rm a.txt',
  'ls a\\ >x; ls',
])('a line that contains more needs approval as a whole: %s', (line) => {
  expect(look(line, process.env['PATH']).fact).toEqual({ line, cwd: workspace, unclear: expect.any(String) });
});

test('analyses a line that starts with cd as the rest of it in that folder', () => {
  mkdirSync(join(workspace, 'app', 'deep'), { recursive: true });
  mkdirSync(join(root, 'elsewhere'), { recursive: true });
  writeFileSync(join(workspace, 'app', 'package.json'), JSON.stringify({ scripts: { test: 'vitest run' } }));
  const app = join(workspace, 'app');
  expect(look('cd app && ls')).toMatchObject({
    fact: { line: 'ls', cwd: app, plain: { reads: 'lists files' } },
    launch: { kind: 'plain', argv: ['ls'] },
  });
  expect(look('cd app; cat package.json | head').fact).toMatchObject({ cwd: app, joined: { needs: [] } });
  expect(look(`cd "app" && cd deep && pwd`).fact).toMatchObject({ line: 'pwd', cwd: join(app, 'deep') });
  expect(look('cd app && npm test', process.env['PATH']).fact).toMatchObject({ cwd: app, plain: { family: ['npm', 'test'] } });
  expect(look('cd app && rm x').fact).toMatchObject({ cwd: app, plain: { reads: null, family: null } });
  expect(look('cd .. && pwd').paths).toEqual([expect.objectContaining({ given: '..', real: root, insideWorkspace: false })]);
  expect(look(`cd ${join(root, 'elsewhere')} && echo x`).paths[0]?.insideWorkspace).toBe(false);
});

test.each([
  'cd missing && ls',
  'cd missing; ls',
  'cd app || ls',
  'cd app | ls',
  'cd app & ls',
  'cd -P app && ls',
  'cd - && ls',
  'cd && ls',
  'cd app',
  'cd a.txt && ls',
  'cd app bin && ls',
  'cd $OLDPWD && ls',
  'cd ~root && ls',
  'cd "$(pwd)" && ls',
  'cd app && ls > $x',
  'cd app && $(x)',
  'cd app &&',
  'cd app\nls > $x',
  'cd app > x && ls',
])('does not split a line with an unsure folder or an unclear rest: %s', (line) => {
  mkdirSync(join(workspace, 'app'), { recursive: true });
  expect(look(line).fact).toEqual({ line, cwd: workspace, unclear: expect.any(String) });
});

test('counts the input file of a reader as a file it reads', () => {
  expect(look('wc -l < a.txt')).toMatchObject({
    fact: { joined: { reads: 'counts lines, words and bytes', needs: [] } },
    paths: [{ given: 'a.txt', real: join(workspace, 'a.txt'), access: 'read' }],
    launch: { line: `'/usr/bin/wc' '-l' <a.txt` },
  });
  expect(look('tr a b <.env | head').paths[0]?.protectedBy).toBe('secret');
  expect(look('cat < /dev/tcp/127.0.0.1/9').paths[0]?.insideWorkspace).toBe(false);
  for (const line of [
    'bash -s < a.txt',
    'cat 0<<< a',
    'cat <(ls)',
    'cat 0< a.txt',
    'cat <> a.txt',
    'cat <& a.txt',
    'cat < $OLDPWD',
    'cat < "a b"',
    'xargs cat < a.txt',
    'cat < a.txt b',
  ])
    expect([line, look(line).fact.joined]).toEqual([line, undefined]);
});

test('a program that shows its version reads nothing', () => {
  const reads = (line: string) => look(line).fact.plain?.reads;
  expect([reads('git --version'), reads('bash --version')]).toEqual(['shows its version', 'shows its version']);
  expect(look('git --version && ls').fact.joined?.reads).toBe('shows its version and lists files');
  expect(['git --version x', 'git -v', 'bash --version -c x', 'bash -c --version'].map(reads)).toEqual([null, null, null, null]);
});

test('a version manager in the place of a program is not that program', () => {
  const says = (argv: readonly string[], real: string, others: readonly string[] = []) => {
    const program = { file: '/usr/bin/any', real, isTrusted: true };
    const find = (name: string) => ({ ...program, real: others.find((other) => other.endsWith(name)) ?? `/usr/bin/${name}` });
    return lookAtPlain({ argv, program, cwd: workspace, environment, find }, places, new ContentHashes(() => 0)).plain;
  };
  const reads = (argv: readonly string[], real: string, ...others: string[]) => says(argv, real, others).reads;
  expect([reads(['bash', '--version'], '/usr/bin/bash'), reads(['bash', '--version'], '/usr/bin/env')]).toEqual([
    'shows its version',
    null,
  ]);
  expect([reads(['awk', '1'], '/usr/bin/mawk'), reads(['cat'], '/bin/busybox'), reads(['[', 'x', ']'], '/usr/bin/[')]).not.toContain(null);
  for (const [name, real] of [
    ['jq', '/home/x/.asdf/shims/jq'],
    ['rg', '/home/x/.local/bin/mise'],
    ['node', '/home/x/.pyenv/shims/node'],
    ['python3', '/home/x/.volta/bin/volta-shim'],
  ] as const) {
    const plain = says(name === 'jq' || name === 'rg' ? [name, '.'] : [name, '--version'], real);
    expect([name, plain.reads, plain.family]).toEqual([name, null, null]);
  }
  expect(says(['touch', 'a.txt'], '/home/x/.asdf/shims/touch').writes).toBeUndefined();
  expect(reads(['zcat', 'a.gz'], '/usr/bin/zcat', '/home/x/.asdf/shims/gzip')).toBeNull();
  // A task runs what the project names, with any program.
  expect(says(['cargo', 'test'], '/home/x/.cargo/bin/rustup').family).toEqual(['cargo', 'test']);
  const npm = (...others: string[]) => reads(['npm', '--version'], '/usr/lib/npm/bin/npm-cli.js', ...others);
  expect([npm(), npm('/home/x/.asdf/shims/node')]).toEqual(['shows its version', null]);
  // With a version of npm that the project names, from the registry that it names.
  expect(reads(['npm', '--version'], '/usr/lib/node_modules/corepack/dist/npm.js')).toBeNull();
  // Npm writes a log to the folder that the project names, even to show its version.
  writeFileSync(join(workspace, '.npmrc'), 'cache=../elsewhere\n');
  expect(npm()).toBeNull();
  rmSync(join(workspace, '.npmrc'));
});

test('a script of the system is not a reader where the folder could replace the programs that it starts', () => {
  mkdirSync(join(workspace, 'own'));
  const lines = ['egrep x a.txt', 'fgrep x a.txt | sort', 'egrep --version'];
  const reads = () => lines.map((line) => readsOf(look(line, `./own:${environment.PATH}`).fact) !== null);
  expect(reads()).toEqual([true, true, true]);
  writeFileSync(join(workspace, 'own', 'grep'), '#!/bin/sh\ntouch PWNED\n', { mode: 0o755 });
  expect(reads()).toEqual([false, false, false]);
  rmSync(join(workspace, 'own'), { recursive: true });
});

test('the last part may be a command that is allowed by its name', () => {
  expect(look('ls && npm test', process.env['PATH']).fact.joined).toMatchObject({ reads: null, needs: [{ family: ['npm', 'test'] }] });
});

test('read-only git commands join with readers and with each other', () => {
  const repository = join(root, 'workspace', 'joined-repository');
  execFileSync('git', ['init', '-q', repository]);
  const joined = (line: string) => look(line, environment.PATH, repository);
  expect(joined('git status && git log | head').fact.joined).toMatchObject({
    reads: 'reads this repository and prints the beginning of files',
    needs: [{ family: ['git', 'status'] }, { family: ['git', 'log'] }],
  });
  expect(joined('git status && git log -p').fact.joined?.reads).toBeNull();
  expect(joined('git status && git push').fact.joined).toBeUndefined();
  expect(joined('git status && git status').launch).toMatchObject({ kind: 'line', environment: { GIT_OPTIONAL_LOCKS: '0' } });
  writeFileSync(join(repository, '.git', 'config'), '[core]\n\tfsmonitor = touch PWNED\n', { flag: 'a' });
  expect(joined('git status && ls').fact.joined).toBeUndefined();
  rmSync(repository, { recursive: true });
});

test('git behind a time limit, or behind variables that only change its output, counts as git', () => {
  const repository = join(root, 'workspace', 'prefixed-repository');
  execFileSync('git', ['init', '-q', repository]);
  const at = (line: string, path = environment.PATH) => look(line, path, repository);
  const reads = (line: string, path?: string) => readsOf(at(line, path).fact);
  for (const line of [
    'NO_COLOR=1 git status',
    'LC_ALL=C git log --oneline | head',
    'timeout 9 git status',
    'nice -n 9 git status',
    'TZ=UTC git log && ls',
  ])
    expect([line, reads(line)]).toEqual([line, expect.stringContaining('reads this repository')]);
  expect(at('NO_COLOR=1 git status')).toMatchObject({
    fact: { plain: { argv: ['env', 'NO_COLOR=1', 'git', 'status'], family: ['git', 'status'] } },
    launch: { environment: { GIT_OPTIONAL_LOCKS: '0' } },
  });
  const risky = [
    'GIT_DIR=x git status',
    'env -i git status',
    'timeout -s KILL 9 git status',
    'LC_ALL=C git push',
    'timeout 9 git -c core.pager=x log',
    'nice git push',
    'nice -n -9 git status',
  ];
  for (const line of [...risky, 'env LC_ALL=C timeout 9 git push', 'GIT_SSH_COMMAND=x git status'])
    expect([line, reads(line)]).toEqual([line, null]);
  mkdirSync(join(repository, 'own'));
  writeFileSync(join(repository, 'own', 'git'), '#!/bin/sh\n', { mode: 0o755 });
  expect(reads('NO_COLOR=1 git status', `./own:${environment.PATH}`)).toBeNull();
  writeFileSync(join(repository, '.git', 'config'), '[core]\n\tfsmonitor = touch PWNED\n', { flag: 'a' });
  expect(reads('NO_COLOR=1 git status')).toBeNull();
  rmSync(repository, { recursive: true });
});

test('rebuilds the line to run from its parts, each program by its file', () => {
  expect(look(`cat a.txt | grep "it's" 2>/dev/null && ls`).launch).toEqual({
    kind: 'line',
    line: `'/usr/bin/cat' 'a.txt' | '/usr/bin/grep' 'it'\\''s' 2>/dev/null && '/usr/bin/ls'`,
    environment: {},
  });
});

test('checks the paths of every part', () => {
  const { paths } = look('ls && cat .env');
  expect(paths.some(({ protectedBy }) => protectedBy !== null)).toBe(true);
  expect(look('ls | cat ../x').paths.some(({ insideWorkspace }) => !insideWorkspace)).toBe(true);
});
