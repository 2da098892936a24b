// Tests when dist/ counts as fresh, and that only one build runs at a time.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withLock } from '../../build/build-lock.ts';
import { findChromium } from '../../build/chromium.ts';
import { fingerprint, isFresh, stampFile } from '../../build/freshness.mjs';
import { createTree } from './fixture-tree.ts';

const sources = { 'core/base/a.ts': 'export {};\n', 'core/base/a.test.ts': '', 'package.json': '{}' };

function builtTree(): string {
  const root = createTree(sources);
  mkdirSync(join(root, 'dist'));
  writeFileSync(join(root, stampFile), JSON.stringify({ fingerprint: fingerprint(root), files: [] }));
  return root;
}

test('a build is fresh until a source changes', () => {
  const root = builtTree();
  expect(isFresh(root)).toBe(true);
  writeFileSync(join(root, 'core/base/a.test.ts'), 'export {};\n');
  expect(isFresh(root)).toBe(true);
  utimesSync(join(root, 'core/base/a.ts'), 1, 1);
  expect(isFresh(root)).toBe(false);
});

test.each<[string, (root: string) => void]>([
  ['a source more', (root) => writeFileSync(join(root, 'core/base/b.ts'), '')],
  ['a source less', (root) => rmSync(join(root, 'core/base/a.ts'))],
  ['another package.json', (root) => writeFileSync(join(root, 'package.json'), '{"type":"module"}')],
  ['no stamp', (root) => rmSync(join(root, stampFile))],
  ['a torn stamp', (root) => writeFileSync(join(root, stampFile), '{"finger')],
])('%s makes it stale', (_name, change) => {
  const root = builtTree();
  change(root);
  expect(isFresh(root)).toBe(false);
});

test('builds take turns', async () => {
  const file = join(createTree({}), 'dist/.building');
  const steps: string[] = [];
  const build = (name: string) => (): Promise<void> => {
    steps.push(`${name} begins`);
    return new Promise((resolve) => {
      setImmediate(() => {
        steps.push(`${name} ends`);
        resolve();
      });
    });
  };
  await Promise.all([withLock(file, build('first')), withLock(file, build('second'))]);
  expect(steps).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  expect(existsSync(file)).toBe(false);
});

test('a build that failed, or whose process died, does not block the next', async () => {
  const file = join(createTree({}), 'dist/.building');
  await expect(withLock(file, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  writeFileSync(file, String(spawnSync(process.execPath, ['--version']).pid));
  expect(await withLock(file, () => Promise.resolve('built'))).toBe('built');
});

test('a named Chromium is used, and no other in its place', () => {
  const env = { TRAYCLAW_CHROMIUM: process.execPath, PATH: '' };
  expect(findChromium(env, 'linux')).toBe(process.execPath);
  expect(findChromium({ ...env, TRAYCLAW_CHROMIUM: '/nowhere/chromium' }, 'linux')).toBeNull();
  expect(findChromium({ PATH: '' }, 'linux')).toBeNull();
});
