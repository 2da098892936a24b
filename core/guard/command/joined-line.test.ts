// Lines of several commands: as safe as their parts, or asked about as a whole.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommandAnalyst, type CommandPlaces } from './command.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-joined-')));
const workspace = join(root, 'workspace');
const environment = { PATH: '/usr/bin:/bin', HOME: root };
const analyst = new CommandAnalyst({ platform: 'linux', nowMs: () => Date.now() });

const protectionOf = (real: string): string | null => (real.endsWith('/.env') ? 'secret' : null);
const places: CommandPlaces = {
  opened: [workspace],
  home: join(root, 'data'),
  userHome: root,
  protectionOf,
  fact(given, cwd, access) {
    const real = isAbsolute(given) ? resolve(given) : resolve(cwd, given);
    return { given, real, access, insideWorkspace: `${real}/`.startsWith(`${workspace}/`), protectedBy: protectionOf(real) };
  },
};

const look = (line: string, path = environment.PATH, cwd = workspace) =>
  analyst.analyse({ line, cwd, environment: { ...environment, PATH: path } }, places);

beforeAll(() => {
  mkdirSync(join(workspace, 'bin'), { recursive: true });
  writeFileSync(join(workspace, 'a.txt'), 'a');
  writeFileSync(join(workspace, '.env'), 'S=1');
  writeFileSync(join(workspace, 'package.json'), JSON.stringify({ scripts: { test: 'vitest run' } }));
  writeFileSync(join(workspace, 'bin', 'ls'), '#!/bin/sh\n', { mode: 0o755 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['ls && pwd', 'lists files and prints the folder it runs in'],
  ['ls | grep ts', 'lists files and searches in files'],
  ['cat a.txt | head -n 3 | wc -l', 'prints files, prints the beginning of files and counts lines, words and bytes'],
  ['cat a.txt || echo none', 'prints files and prints text'],
  ['ls; cat a.txt', 'lists files and prints files'],
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
  'cat a.txt | tee b.txt',
  'ls > out.txt',
  'ls >> /dev/null.txt',
  'ls 2> errors.txt',
  'ls & cat a.txt',
  'ls |& cat',
  'ls &>/dev/null',
  'cd src && ls',
  'export A=1; ls',
  'A=1 ls && ls',
  'ls && $(cat a.txt)',
  'ls && `cat a.txt`',
  'ls\ncat a.txt',
  'ls;; cat a.txt',
  'ls && (cat a.txt)',
  '! ls && ls',
  'time ls | wc',
  'ls && ./bin/ls',
  "ls && echo 'a",
  'npm test | head',
  'npm test && ls',
  'ls && npm test extra > x',
  'ls \\\\; touch x',
  'ls \\\\| sh',
  'ls \\\n; ls',
  'ls a\\ >x; ls',
])('a line with more in it is asked about as a whole: %s', (line) => {
  expect(look(line, process.env['PATH']).fact).toEqual({ line, cwd: workspace, unclear: expect.any(String) });
});

test('the last part may be a command that its name allows', () => {
  expect(look('ls && npm test', process.env['PATH']).fact.joined).toMatchObject({ reads: null, needs: [{ family: ['npm', 'test'] }] });
});

test('git commands that only read join with readers and with each other', () => {
  const repository = join(root, 'workspace', 'joined-repository');
  execFileSync('git', ['init', '-q', repository]);
  const joined = (line: string) => look(line, environment.PATH, repository);
  expect(joined('git status && git log | head').fact.joined).toMatchObject({
    reads: null,
    needs: [{ family: ['git', 'status'] }, { family: ['git', 'log'] }],
  });
  expect(joined('git status && git push').fact.joined).toBeUndefined();
  expect(joined('git status && git status').launch).toMatchObject({ kind: 'line', environment: { GIT_OPTIONAL_LOCKS: '0' } });
  writeFileSync(join(repository, '.git', 'config'), '[core]\n\tfsmonitor = touch PWNED\n', { flag: 'a' });
  expect(joined('git status && ls').fact.joined).toBeUndefined();
  rmSync(repository, { recursive: true });
});

test('the line that runs is rebuilt from its parts, each program by its file', () => {
  expect(look(`cat a.txt | grep "it's" 2>/dev/null && ls`).launch).toEqual({
    kind: 'line',
    line: `'/usr/bin/cat' 'a.txt' | '/usr/bin/grep' 'it'\\''s' 2>/dev/null && '/usr/bin/ls'`,
    environment: {},
  });
});

test('the paths of every part count', () => {
  const { paths } = look('ls && cat .env');
  expect(paths.some(({ protectedBy }) => protectedBy !== null)).toBe(true);
  expect(look('ls | cat ../x').paths.some(({ insideWorkspace }) => !insideWorkspace)).toBe(true);
});
