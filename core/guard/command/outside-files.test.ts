// The names of files outside in the words of a line. Whether their content is then marked is tested with whole turns.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isInside } from '../../base/inside-folder.ts';
import { growth } from '../../../tests/own-clock.ts';
import { outsideFile } from './outside-files.ts';
import type { CommandPlaces } from './protected-walk.ts';

let root = '';
let cwd = '';
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-outside-')));
  cwd = join(root, 'work');
  mkdirSync(join(cwd, 'sub'), { recursive: true });
  mkdirSync(join(root, 'my files'));
  for (const name of ['page.md', 'my files/a.md', 'work/own.md']) writeFileSync(join(root, name), '');
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const places: CommandPlaces = {
  fact: (given, base, access) => {
    const real = resolve(base, given);
    return { given, real, access, insideWorkspace: isInside(real, cwd), protectedBy: null };
  },
  protectionOf: () => null,
  get opened() {
    return [cwd];
  },
  home: '/nowhere',
  get userHome() {
    return root;
  },
};
const named = (line: string): string | null => outsideFile({ line: line.replaceAll('ROOT', root), cwd }, places);

test.each([
  'cat ../page.md > x',
  'cat ~/page.md | tee x',
  'cat "$HOME/page.md" > x',
  "sed -n 1p 'ROOT/my files/a.md' > x",
  'dd if=ROOT/page.md of=x',
  'patch --input=../page.md',
  'sort < ../page.md > x',
  'cd .. && cat page.md > work/x',
  '[ -f ../page.md ] && mv ../page.md x',
  'tar -xf ../page.md',
  'node own.md ../page.md',
  'for f in ROOT/*.md; do cp "$f" .; done',
  'cp -r "ROOT/my files" here',
  `cat ${Array.from({ length: 1_100 }, (_, at) => `f${at}`).join(' ')} > x`,
])('%s may bring in what others wrote', (line) => {
  expect(named(line)).not.toBeNull();
});

test.each([
  'cat own.md > x',
  'cat own.md > ../page.md',
  'cp own.md ../page.md',
  'mkdir -p "ROOT/my files" && make',
  'rm -f ../page.md; make',
  'make --out-dir=ROOT/none > /dev/null 2>&1',
  'npm run build -- "ROOT/my files"',
  '/usr/bin/make -C sub -I/usr/include',
  'cat /etc/hostname > x',
  'cat ../missing.md > x',
  'test -f ../page.md && make',
])('%s brings in nothing of others', (line) => {
  expect(named(line)).toBeNull();
});

test.each([
  ['folders that are entered', 'cd a; '.repeat(50_000)],
  ['words', `cat ${'../a '.repeat(60_000)}`],
  ['patterns', '/a*'.repeat(100_000)],
  ['a name too long for any file', `cat /${'a'.repeat(300_000)} > x`],
])('300 KB of %s are read in time', (_, line) => {
  expect(growth(line, (part) => outsideFile({ line: part, cwd }, places))).toBeLessThan(20);
});
