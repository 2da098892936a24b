// The cache of a check must not hide an error: a change to any input of the check changes its key.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCheckCache } from '../../build/check-cache.ts';
import { createTree } from './fixture-tree.ts';

const tree = {
  'package.json': '{}',
  'core/top.ts': "import { middle } from './middle.ts';\nexport const top: string = middle;\n",
  'core/middle.ts': "export { bottom as middle } from './bottom.ts';\n",
  'core/bottom.ts': "export const bottom = 'text';\n",
  'core/lazy.ts': "export const load = () => import('./bottom.ts');\n",
  'core/apart.ts': 'export const apart = 1;\n',
  'renderer/app.svelte': '<script lang="ts">import \'../core/apart.ts\';</script>\n',
  'core/maze.ts': "import './made-by-a-build.ts';\n",
  'docs/guide.md': 'words\n',
};

/** The files that must be checked again after `path` was written. */
function stale(path: string, text: string): string[] {
  const root = createTree(tree);
  const code = Object.keys(tree).filter((name) => /\.(?:ts|svelte)$/.test(name));
  const keys = () => {
    const cache = openCheckCache(root);
    return new Map(code.map((name) => [name, `${cache.folder} ${cache.keyOf([name])}`]));
  };
  const before = keys();
  expect(keys()).toEqual(before);
  writeFileSync(join(root, path), text);
  const after = keys();
  return code.filter((name) => after.get(name) !== before.get(name));
}

const all = Object.keys(tree).filter((name) => /\.(?:ts|svelte)$/.test(name));

test.each([
  [
    'a file and all that import it, however far',
    'core/bottom.ts',
    'export const bottom = 1;\n',
    ['top', 'middle', 'bottom', 'lazy', 'maze'],
  ],
  ['a file that nothing imports', 'core/lazy.ts', '', ['lazy', 'maze']],
  ['what a component imports', 'core/apart.ts', '', ['apart', 'app.svelte', 'maze']],
  ['words that no code imports: only where an import leads nowhere known', 'docs/guide.md', 'more words\n', ['maze']],
])('checked again: %s', (_title, path, text, names) => {
  expect(stale(path, text)).toEqual(all.filter((name) => names.some((part) => name.includes(part))));
});

test.each([
  ['a version', 'package.json', '{"dependencies":{}}'],
  ['a setting of the compiler', 'tsconfig.json', '{}'],
  ['a rule', '.oxlintrc.json', '{}'],
  ['an installed package', 'package-lock.json', '{}'],
  ['a type that is seen everywhere', 'core/apart.ts', "declare module 'apart' {}\n"],
])('a change of %s makes every file stale', (_title, path, text) => {
  expect(stale(path, text)).toEqual(all);
});

test('finds what passed under its key only, and drops entries of other settings', () => {
  const root = createTree(tree);
  const cache = openCheckCache(root);
  cache.write('lint', [cache.keyOfOne('core/apart.ts')]);
  expect(openCheckCache(root).read('lint')).toEqual(new Set([cache.keyOfOne('core/apart.ts')]));
  expect(openCheckCache(root).read('format')).toEqual(new Set());
  writeFileSync(join(root, 'core/apart.ts'), 'export const apart = 2;\n');
  const next = openCheckCache(root);
  expect(next.read('lint').has(next.keyOfOne('core/apart.ts'))).toBe(false);
  writeFileSync(join(root, 'tsconfig.json'), '{}');
  expect(openCheckCache(root).read('lint')).toEqual(new Set());
});
