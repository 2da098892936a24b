import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandBench } from '../../../tests/rigs/command-bench.ts';
import { findProtected } from './protected-walk.ts';

const { root, workspace, environment, protectionOf, look, dispose } = commandBench(/(?:^|\/)\.(?:env|ssh|git\/(?:config|hooks))(?:\/|$)/);

afterAll(dispose);

test('hidden places count if an ignore file includes them again', () => {
  const walk = { shows: 'content', entersHidden: false } as const;
  const folder = join(root, 'project');
  mkdirSync(join(folder, 'deep'), { recursive: true });
  writeFileSync(join(folder, 'deep', '.env'), '');
  expect(findProtected(folder, walk, protectionOf)).toMatchObject({ places: [], isComplete: true });
  writeFileSync(join(folder, '.ignore'), 'x\n!.env\n');
  expect(findProtected(folder, walk, protectionOf)).toMatchObject({ places: [join(folder, 'deep', '.env')] });
  rmSync(join(folder, '.ignore'));
  writeFileSync(join(root, '.gitignore'), '!.env\n');
  expect(findProtected(folder, walk, protectionOf)).toMatchObject({ places: [join(folder, 'deep', '.env')] });
  rmSync(join(root, '.gitignore'));
});

test('a search reads the settings of a repository, but not a password in them', () => {
  const folder = join(workspace, 'searched');
  mkdirSync(join(folder, '.git', 'hooks'), { recursive: true });
  const config = join(folder, '.git', 'config');
  const places = (line: string): string[] =>
    look(line, environment.PATH, folder)
      .paths.filter(({ protectedBy }) => protectedBy !== null)
      .map(({ real }) => real.slice(folder.length + 1));
  const lines = ['grep -rn x .', 'find . -type f -exec grep -l x {} +'];
  writeFileSync(config, '[remote "origin"]\n\turl = git@example.org:a/b.git\n\turl = ssh://git@example.org/a\n');
  writeFileSync(join(folder, '.git', 'hooks', 'update.sample'), 'token');
  expect(lines.map(places)).toEqual([[], []]);
  for (const secret of ['url = https://a:b@example.org/', 'url = https://ghp@example.org/', 'extraheader = x', 'smtpPass = x']) {
    writeFileSync(config, `[remote "origin"]\n\t${secret}\n`);
    expect(lines.map(places)).toEqual([['.git/config'], ['.git/config']]);
  }
  expect(places('grep -rn --exclude-dir=.git x .')).toEqual([]);
  expect(places('cat .git/config')).toEqual(['.git/config']);
  rmSync(config);
  symlinkSync(join(root, 'secret.txt'), config);
  expect(look('grep -rn x .', environment.PATH, folder).paths.at(-1)).toMatchObject({ given: config, insideWorkspace: false });
  rmSync(config);
  writeFileSync(join(folder, '.git', 'hooks', 'update'), 'TOKEN=x');
  expect(places('grep -rn x .')).toEqual(['.git/hooks/update']);
  rmSync(folder, { recursive: true });
});

test('a search leaves out what the ignore files of the repository leave out', () => {
  const folder = join(root, 'ignoring');
  const below = join(folder, 'app');
  mkdirSync(join(below, 'node_modules', 'keys'), { recursive: true });
  writeFileSync(join(below, 'node_modules', 'keys', '.env'), '');
  const found = (walk: object = {}): readonly string[] =>
    findProtected(below, { shows: 'content', entersHidden: true, obeysIgnoreFiles: true, ...walk }, protectionOf).places;
  const secret = [join(below, 'node_modules', 'keys', '.env')];
  writeFileSync(join(folder, '.gitignore'), 'dist\nnode_modules/\n');
  expect(found()).toEqual(secret);
  mkdirSync(join(folder, '.git'));
  expect([found(), found({ obeysIgnoreFiles: undefined })]).toEqual([[], secret]);
  writeFileSync(join(below, '.ignore'), '!keys\n');
  expect(found()).toEqual(secret);
  rmSync(folder, { recursive: true });
});

test.each([
  ['dist\nkeys/ \r\n', []],
  [' keys\n', ['keys/.env']],
  ['keys\ufeff\n', ['keys/.env']],
  [Buffer.from('# \xff\nkeys\n', 'latin1'), ['keys/.env']],
])('a search leaves out the folder keys only if ripgrep reads %j so', (ignored, places) => {
  const folder = join(workspace, 'read');
  mkdirSync(join(folder, 'keys'), { recursive: true });
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, 'keys', '.env'), '');
  writeFileSync(join(folder, '.gitignore'), ignored);
  const found = findProtected(folder, { shows: 'content', entersHidden: true, obeysIgnoreFiles: true }, protectionOf);
  expect(found.places).toEqual(places.map((place) => join(folder, place)));
  rmSync(folder, { recursive: true });
});

test('the ignore files of a repository do not apply in another one within it, nor without a repository', () => {
  const folder = join(workspace, 'outer');
  const inner = join(folder, 'lib', 'inner');
  for (const place of [join(inner, 'keys'), join(folder, 'keys'), join(folder, '.git')]) mkdirSync(place, { recursive: true });
  for (const place of [join(inner, 'keys'), join(folder, 'keys')]) writeFileSync(join(place, '.env'), '');
  writeFileSync(join(folder, '.gitignore'), 'keys\n');
  const found = (): readonly string[] =>
    findProtected(folder, { shows: 'content', entersHidden: true, obeysIgnoreFiles: true }, protectionOf).places;
  expect(found()).toEqual([]);
  mkdirSync(join(inner, '.git'));
  expect(found()).toEqual([join(inner, 'keys', '.env')]);
  rmSync(join(inner, '.git'), { recursive: true });
  rmSync(join(folder, '.git'), { recursive: true });
  symlinkSync('gone', join(folder, '.git'));
  expect(found()).toHaveLength(2);
  rmSync(folder, { recursive: true });
});

test('an ignore file counts in any case of its name', () => {
  const folder = join(root, 'cases');
  mkdirSync(folder);
  writeFileSync(join(folder, '.env'), '');
  writeFileSync(join(folder, '.Ignore'), '!.env\n');
  expect(findProtected(folder, { shows: 'content', entersHidden: false }, protectionOf).places).toEqual([join(folder, '.env')]);
  rmSync(folder, { recursive: true });
});
