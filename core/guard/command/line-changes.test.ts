// Lines of several commands that only change files of the workspace, and those that may do more.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyChangesFiles, readsOf } from '../../contracts/tools.ts';
import { needs } from '../../../tests/needs.ts';
import { commandBench, realOr } from '../../../tests/rigs/command-bench.ts';

const { root, workspace, look, environment, dispose } = commandBench(/(?:^|\/)\.(?:env|git|vscode)(?:\/|$)|^\/dev\//);
const changed = (line: string, path = environment.PATH, cwd = workspace): readonly string[] | null => {
  const { fact, paths, hosts, class: kind } = look(line, path, cwd);
  const facts = { class: kind, paths: [...paths], command: fact, hosts: [...hosts] };
  if (!onlyChangesFiles(facts) || !paths.every(({ insideWorkspace, protectedBy }) => insideWorkspace && protectedBy === null)) return null;
  return [...new Set(paths.filter(({ access }) => access === 'write').map(({ real }) => relative(workspace, real)))].sort();
};
const template = join(root, 'template');

beforeAll(() => {
  for (const folder of ['src', 'full/a.txt', 'tools', 'links']) mkdirSync(join(template, folder), { recursive: true });
  for (const name of ['a.txt', 'b.txt', 'src/c.ts', '.env', '.ignore', 'main']) writeFileSync(join(template, name), name);
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside', 'secret.txt'), 'secret');
  symlinkSync('../../outside', join(template, 'links', 'out'));
  symlinkSync('../a.txt', join(template, 'links', 'to-a'));
  symlinkSync('../src', join(template, 'links', 'in'));
  execFileSync('git', ['init', '-q'], { cwd: template });
  writeFileSync(join(template, 'tools', 'tee'), '#!/bin/sh\n', { mode: 0o755 });
  plant();
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
});
afterAll(dispose);

/** Puts the workspace into its first state. */
function plant(): void {
  for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true });
  cpSync(template, workspace, { recursive: true, verbatimSymlinks: true });
}

test.each([
  ['mkdir x && touch x/y', ['x', 'x/y']],
  ['grep foo a.txt > out.txt', ['out.txt']],
  ['grep foo a.txt >> a.txt', ['a.txt']],
  ['git log --oneline > log.txt 2>&1', ['log.txt']],
  ['git show HEAD:a.txt > src/old.txt', ['src/old.txt']],
  ['echo "see https://example.com" >> notes.md', ['notes.md']],
  ['echo node_modules >> .gitignore', ['.gitignore']],
  ['cat a.txt | sort | uniq > s.txt', ['s.txt']],
  ['ls | tee out.txt | wc -l', ['out.txt']],
  ['ls 2>> err.log', ['err.log']],
  ['ls > links/in/x', ['src/x']],
  ['mkdir -p d && cp a.txt d/', ['d', 'd/a.txt']],
  ['mkdir -p d/e && mv a.txt b.txt d', ['a.txt', 'b.txt', 'd', 'd/a.txt', 'd/b.txt', 'd/e']],
  ['cp a.txt c.txt && cat c.txt', ['c.txt']],
  ['mkdir x > c.txt', ['c.txt', 'x']],
  ['cd src && grep -n x c.ts > ../o.txt', ['o.txt']],
  ['grep x *.txt > all', ['all']],
  ['cp *.txt src', ['src/a.txt', 'src/b.txt']],
  ['for f in a.txt b.txt; do cp $f src; done', ['src', 'src/a.txt', 'src/b.txt']],
  ['x=out.log; ls > $x', ['out.log']],
  ['# notes\nmkdir -p o\nls > o/x.txt', ['o', 'o/x.txt']],
  ["find src -name '*.ts' | xargs wc -l > n.txt", ['n.txt']],
])('%s only changes %j', (line, paths) => {
  const said = changed(line);
  expect(said?.filter((path) => path !== 'src')).toEqual(paths.filter((path) => path !== 'src').sort());
  expect(readsOf(look(line).fact)).toBeNull();
});

test.each([
  ['a secret', 'echo hi > .env'],
  ['a secret', 'cat .env > o.txt'],
  ['a secret', 'ls | tee o.txt .env'],
  ['a secret', 'f=.env; echo hi > $f'],
  ['a hook', 'echo hi > .git/hooks/pre-commit'],
  ['settings of git', 'git status >> .git/config'],
  ['what an editor runs', 'mkdir .vscode && cp a.txt .vscode/tasks.json'],
  ['a place outside', 'echo hi > links/out/f'],
  ['a place outside', 'cat ../../etc/hosts > o.txt'],
  ['a place outside', 'wc -l < ../x > o.txt'],
  ['a place outside', 'mkdir links/out/z && ls'],
  ['a link', 'echo hi > links/to-a'],
  ['a link', 'ls | tee links/to-a'],
  ['a pipe to a program', 'echo hi > pipe'],
  ['a pipe to a program', 'ls | tee pipe'],
  ['a connection', 'echo hi > /dev/tcp/127.0.0.1/9'],
  ['a device', 'echo hi > /dev/sda'],
  ['a folder', 'echo hi > src'],
  ['an unknown name', 'echo hi > a$x'],
  ['an unknown name', 'echo hi > $(ls)'],
  ['an unknown name', 'echo hi > "a b"'],
  ['an unknown name', 'echo hi > a*'],
  ['an unknown name', 'echo hi > ~root'],
  ['an unknown form', 'echo hi >| a.txt'],
  ['an unknown form', 'echo hi &> a.txt'],
  ['an unknown form', 'echo hi >& a.txt'],
  ['an unknown form', 'echo hi <> a.txt'],
  ['an unknown form', 'echo hi 3> a.txt'],
  ['an unknown form', 'echo hi > a.txt b'],
  ['an unknown form', '> a.txt'],
  ['an unknown form', 'echo a>b'],
  ['an unknown form', 'ls > >(sh)'],
  ['an unknown form', 'for f in a; do ls; done > x'],
  ['code of the project', 'echo x > Makefile && make'],
  ['code of the project', 'touch a && sh b'],
  ['code of the project', 'ls > x; ./tools/tee'],
  ['code of the project', 'git diff > d.txt && npm test'],
  ['another effect', 'sort a.txt -o b.txt > c.txt'],
  ['another effect', 'rm a.txt && touch a.txt'],
  ['removed content', 'git log -p > log.txt'],
  ['what git obeys', 'mkdir .gitattributes2 && git status'],
  ['what git shows', 'mv main y && git diff main'],
  ['what a search leaves out', 'echo > .ignore && rg foo'],
  ['what a search leaves out', 'rg foo > .ignore'],
  ['what a search leaves out', 'mv b.txt src/.rgignore; rg foo'],
  ['another file by then', 'mv a.txt x; mkdir a.txt; mv a.txt y'],
  ['another file by then', 'cp a.txt c; cp b.txt c'],
  ['another file by then', 'touch a.txt; cp a.txt q'],
  ['another file by then', 'mkdir -p a.txt && cp b.txt a.txt'],
  ['another file by then', 'ls | cp a.txt c.txt'],
  ['another file by then', 'mkdir d | cp a.txt d'],
  ['another value by then', 'touch z.txt; ls *.txt'],
  ['another value by then', 'touch z; if [ -f z ]; then ls; fi'],
  ['rights', 'mkdir -m 777 x && ls'],
])('a line that touches %s needs approval: %s', (_what, line) => {
  const { joined, plain } = look(line).fact;
  expect([readsOf(look(line).fact), joined?.writes ?? plain?.writes]).toEqual([null, undefined]);
});

test('a folder that a line makes is the same folder in any case', () => {
  // The target is judged as a file and as a folder: on some disks it is the folder just made.
  expect(changed('mkdir .DOCKER && cp a.txt .docker')).toEqual(['.DOCKER', '.docker', '.docker/a.txt']);
});

test('the program must be the known one', () => {
  expect(changed('ls | tee x', `${join(workspace, 'tools')}:/usr/bin:/bin`)).toBeNull();
});

test('a person who is asked sees the line that runs', () => {
  const { fact, launch } = look('grep x *.txt > all');
  expect([fact.line, launch.kind === 'line' && launch.line]).toEqual([
    "grep x 'a.txt' 'b.txt' > all",
    "'/usr/bin/grep' 'x' 'a.txt' 'b.txt' >all",
  ]);
});

test('a grant for the commands of a line that only read does not cover it', () => {
  expect(look('git log --oneline > log.txt').fact.joined).toMatchObject({ reads: null, writes: 'writes output to files', needs: [] });
  expect(look('git log --oneline > log.txt').launch.environment).toMatchObject({ GIT_PAGER: 'cat' });
});

test('what these lines change when they run is what was said', needs('a Unix system'), () => {
  const names = ['a.txt', 'b.txt', 'src', 'src/', 'links/in', 'links/out', 'links/to-a', 'new', 'new/', 'new/x', 'new/x/y', 'full', '../a.txt', 'links/in/x', 'src/x', 'NEW']; // prettier-ignore
  const programs = ['cp', 'cp', 'mv', 'mv', 'mkdir', 'mkdir -p', 'mkdir -p', 'touch', 'tee', 'cat', 'ls', 'echo'];
  let seed = 11;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const pick = (list: readonly string[]): string => list[next() % list.length] ?? '';
  const part = (): string => {
    const words = Array.from({ length: 1 + (next() % 3) }, () => pick(names));
    const redirect = next() % 3 === 0 ? ` ${pick(['>', '>>', '2>', '> '])}${pick(names)}` : '';
    return `${pick(programs)} ${words.join(' ')}${redirect}`;
  };
  let ran = 0;
  for (let round = 0; round < 6000 && ran < 60; round++) {
    const line = Array.from({ length: 2 + (round % 3) }, part).reduce((text, one) => `${text} ${pick(['&&', ';', '||', '|'])} ${one}`);
    const { launch } = look(line);
    const said = changed(line);
    if (said === null || launch.kind !== 'line') continue;
    const before = picture();
    spawnSync('/bin/bash', ['--noprofile', '--norc', '-c', launch.line], { cwd: workspace, env: environment, input: '' });
    const after = picture();
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
    const wrong = differing.filter((path) => !said.some((one) => one === path || one.startsWith(`${path}/`)));
    expect({ line, wrong }).toEqual({ line, wrong: [] });
    if (differing.length === 0) continue;
    ran += 1;
    plant();
  }
  expect(ran).toBe(60);
});

/** Kind and content of everything, by the path from the workspace. */
function picture(): ReadonlyMap<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter(({ parentPath }) => realOr(parentPath) === parentPath);
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const content = entry.isFile() ? readFileSync(path, 'utf8') : entry.isSymbolicLink() ? readlinkSync(path) : '';
      return [relative(workspace, path), `${lstatSync(path).mode} ${content}`] as const;
    }),
  );
}
