// The code that a start of the program loads. Libraries that only some features use are loaded when those are first used.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { externalPackages } from '../../build/vite.node.mjs';
import { projectRoot } from './fixture-tree.ts';
import { staticImportsOf } from './imports-of.ts';

const library = join(projectRoot, 'dist/index.js');

test('every library of the first load is used by each start', () => {
  const files = new Set<string>();
  const packages = new Set<string>();
  const read = (file: string): void => {
    if (files.has(file)) return;
    files.add(file);
    for (const specifier of staticImportsOf(readFileSync(file, 'utf8'))) {
      if (specifier.startsWith('.')) read(join(dirname(file), specifier));
      else if (!specifier.startsWith('node:')) packages.add(specifier);
    }
    // The bundler's own functions have no map.
    const map = `${file}.map`;
    const { sources } = (existsSync(map) ? JSON.parse(readFileSync(map, 'utf8')) : { sources: [] }) as { sources: string[] };
    for (const source of sources) {
      const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
      if (name !== undefined) packages.add(name);
    }
  };
  read(library);
  const bundled = ['croner', 'ignore', 'ipaddr.js', 'picomatch', 'unbash', 'yaml', 'zod'];
  const native = externalPackages.filter((name) => packages.has(name));
  expect([...packages].sort()).toEqual([...bundled, ...native].sort());
  expect(native.sort()).toEqual(['better-sqlite3', 'sqlite-vec']);
});

test('a start does not load what Node keeps for fetch', () => {
  const told = (code: string): string => execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  const loaded = "process.stdout.write(String(process.moduleLoadList.some((name) => name.endsWith('/undici'))))";
  expect(told(`import 'node:http'; ${loaded}`)).toBe('true');
  expect(told(`import ${JSON.stringify(pathToFileURL(library).href)}; ${loaded}`)).toBe('false');
});
