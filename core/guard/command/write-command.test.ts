import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync, linkSync, lstatSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onlyChangesFiles } from '../../contracts/tools.ts';
import { needs } from '../../../tests/needs.ts';
import { commandBench, realOr } from '../../../tests/rigs/command-bench.ts';
import { readWriter } from './write-command.ts';

const { root, workspace, look, environment, dispose } = commandBench(/(?:^|\/)\.(?:env|git)(?:\/|$)/);
/** The paths that a command changes, if it is known to change nothing else. */
const changed = (line: string, path = environment.PATH): readonly string[] | null => {
  const { fact, paths, hosts, class: kind } = look(line, path);
  const facts = { class: kind, paths: [...paths], command: fact, hosts: [...hosts] };
  if (!onlyChangesFiles(facts)) return null;
  return [...new Set(paths.filter(({ access }) => access === 'write').map(({ real }) => relative(workspace, real)))].sort();
};

beforeAll(() => {
  for (const folder of ['src', 'links', 'full/a.txt', 'tools', '.git']) mkdirSync(join(workspace, folder), { recursive: true });
  for (const name of ['a.txt', 'b.txt', '-x', 'src/c.ts', '.env', 'hard']) writeFileSync(join(workspace, name), name);
  linkSync(join(workspace, 'hard'), join(root, 'hard-elsewhere'));
  mkdirSync(join(root, 'outside', 'inner'), { recursive: true });
  writeFileSync(join(root, 'outside', 'secret.txt'), 'secret');
  symlinkSync('../../outside', join(workspace, 'links', 'out'));
  symlinkSync('../../outside/secret.txt', join(workspace, 'links', 'a.txt'));
  symlinkSync('../src', join(workspace, 'links', 'in'));
  symlinkSync('../../outside/new.txt', join(workspace, 'links', 'dangling'));
  symlinkSync('a.txt', join(workspace, 'to-a'));
  writeFileSync(join(workspace, 'tools', 'cp'), '#!/bin/sh\n', { mode: 0o755 });
});
afterAll(dispose);

test.each([
  ['mkdir new', ['new']],
  ['mkdir -p new/er/est src', ['new/er/est', 'src']],
  ['touch a.txt new.txt', ['a.txt', 'new.txt']],
  ['touch links/in/x', ['src/x']],
  ['tee -a new.txt src/c.ts', ['new.txt', 'src/c.ts']],
  ['cp a.txt c.txt', ['c.txt']],
  ['cp -v a.txt b.txt src', ['src/a.txt', 'src/b.txt']],
  ['cp -f -- -x src/', ['src/-x']],
  ['mv a.txt c.txt', ['a.txt', 'c.txt']],
  ['mv -n a.txt b.txt src/', ['a.txt', 'b.txt', 'src/a.txt', 'src/b.txt']],
  ['cd src && cp c.ts ../d.ts', ['d.ts']],
])('%s only changes %j', (line, paths) => {
  expect(changed(line)).toEqual([...paths].sort());
});

test.each([
  ['a place outside', 'mkdir ../../x'],
  ['a place outside', 'mkdir links/out/x'],
  ['a place outside', 'touch links/dangling'],
  ['a place outside', 'cp a.txt links/out'],
  ['a place outside', 'cp a.txt links'],
  ['a place outside', 'cp a.txt links/out/../x'],
  ['a place outside', 'mv a.txt /tmp/x'],
  ['a secret', 'cp .env c.txt'],
  ['a secret', 'mv .env c.txt'],
  ['a secret', 'cp a.txt .env'],
  ['settings of git', 'cp a.txt .git/config'],
  ['content from outside', 'cp links/a.txt c.txt'],
  ['a link', 'cp to-a c.txt'],
  ['a link', 'mv to-a c.txt'],
  ['a folder', 'cp -r src new'],
  ['a folder', 'mv src new'],
  ['a folder', 'cp a.txt full'],
  ['a file with another name', 'touch hard'],
  ['a file with another name', 'cp a.txt hard'],
  ['a missing file', 'cp gone c.txt'],
  ['a missing folder', 'cp a.txt b.txt gone'],
  ['a missing folder', 'cp a.txt gone/'],
  ['a link to a program', 'cp -s a.txt c.txt'],
  ['the rights', 'cp -p a.txt c.txt'],
  ['a backup', 'cp -b a.txt c.txt'],
  ['another target', 'cp -t src a.txt'],
  ['another target', 'cp --target-directory=src a.txt'],
  ['rights', 'mkdir -m 777 new'],
  ['times', 'touch -r a.txt c.txt'],
  ['the output', 'touch -'],
  ['nothing', 'touch'],
  ['one word', 'cp a.txt'],
  ['a link', 'tee to-a'],
  ['another program', 'rm a.txt'],
  ['another program', 'ln a.txt c.txt'],
])('a command that changes or reads %s needs approval: %s', (_what, line) => {
  // The bench knows no rule for files with several names.
  const isHard = line.endsWith('hard');
  expect(isHard ? null : changed(line)).toBeNull();
});

test('the program must be the known one', () => {
  expect(changed('cp a.txt c.txt', `${join(workspace, 'tools')}:/usr/bin:/bin`)).toBeNull();
  expect(readWriter('constructor', ['a'], workspace)).toBeNull();
});

test('what these commands change when they run is what was said', needs('a Unix system'), () => {
  const words = ['a.txt', 'b.txt', 'src', 'src/', 'links', 'links/in', 'links/out', 'links/a.txt', 'to-a', 'new', 'new/x', '.', './a.txt', '-x', 'full', 'links/dangling', '../a.txt']; // prettier-ignore
  const flags = ['', '', '-n', '-f', '-v', '-p', '--', '-c', '-r'];
  let seed = 7;
  const pick = <T>(list: readonly T[]): T | undefined => list[(seed = (seed * 48_271) % 2_147_483_647) % list.length];
  let ran = 0;
  for (let round = 0; round < 1500; round++) {
    const line = `${pick(['cp', 'mv', 'mkdir', 'touch'])} ${pick(flags)} ${Array.from({ length: 1 + (round % 3) }, () => pick(words)).join(' ')}`;
    const said = changed(line);
    if (said === null) continue;
    const before = picture();
    spawnSync('/bin/sh', ['-c', line], { cwd: workspace, env: environment });
    const after = picture();
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
    expect({ line, wrong: differing.filter((path) => !said.some((one) => one === path || one.startsWith(`${path}/`))) }).toEqual({
      line,
      wrong: [],
    });
    if (differing.length === 0) continue;
    ran += 1;
    rmSync(join(workspace, 'new'), { recursive: true, force: true });
    for (const name of ['a.txt', 'b.txt', '-x']) writeFileSync(join(workspace, name), name);
    for (const name of readdirSync(join(workspace, 'src'))) if (name !== 'c.ts') rmSync(join(workspace, 'src', name), { recursive: true });
  }
  expect(ran).toBeGreaterThan(30);
});

/** Kind and content of everything, by the path from the workspace. */
function picture(): ReadonlyMap<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter(({ parentPath }) => realOr(parentPath) === parentPath);
  const found = entries.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const stat = lstatSync(path);
    const content = entry.isFile() ? `${stat.nlink} ${readFileSync(path, 'utf8')}` : entry.isSymbolicLink() ? readlinkSync(path) : '';
    return [relative(workspace, path), `${stat.mode} ${content}`] as const;
  });
  return new Map(found);
}

test('a person who is asked learns that no code runs', () => {
  expect(look('mkdir ../../x').risks).toEqual(['It makes folders; it runs no code.']);
  expect(look('cp .env c.txt').risks).toContain('It copies files; it runs no code.');
  const own = `${join(workspace, 'tools')}:${environment.PATH}`;
  expect(look('cp a.txt ../../x', own).risks).not.toContain('It copies files; it runs no code.');
});
