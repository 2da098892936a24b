// Finds the files that scripts import by a path or, in Python, by the name of a module next to them, as far as the text shows. Installed
// packages are not followed. Reads only; runs nothing.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isPython } from './program-names.ts';
import { readSmall } from './project-files.ts';

const FILES_MAX = 100;
const TEXT_BYTES_MAX = 256_000;
const scriptPath = /(?:from|import|require)\s*\(?\s*['"`](\.{1,2}\/[^'"`\n]*)/g;
const pythonImport = /^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+\(?([\w, \t]*)|import[ \t]+([\w., \t]+))/gm;
const ends = ['', '.js', '.cjs', '.mjs', '.ts', '/index.js', '/index.ts'];

/** Returns the given files and those they import. Also searches `folder` for modules. */
export function withImported(scripts: readonly string[], folder: string): readonly string[] {
  const found = new Set(scripts);
  for (const file of found) {
    const isModule = /\.pyw?$/i.test(file);
    const text = isModule || /\.[cm]?[jt]s$/i.test(file) ? readSmall(file, TEXT_BYTES_MAX) : null;
    if (typeof text !== 'string') continue;
    const paths = isModule ? modulesIn(text, file, folder) : pathsIn(text, dirname(file));
    for (const path of paths.filter((one) => existsSync(one))) if (found.size < scripts.length + FILES_MAX) found.add(path);
  }
  return [...found];
}

function pathsIn(text: string, folder: string): readonly string[] {
  const named = [...text.matchAll(scriptPath)].map(([, path = '']) => resolve(folder, path)).filter((path) => !path.endsWith('.json'));
  // TypeScript names the compiled file.
  return named.flatMap((path) => [...ends.map((end) => path + end), path.replace(/\.js$/, '.ts')]);
}

function modulesIn(text: string, file: string, folder: string): readonly string[] {
  return [...text.matchAll(pythonImport)].flatMap(([, dots = '', from = '', what = '', plain = '']) => {
    const bases = dots === '' ? [dirname(file), folder] : [resolve(dirname(file), '../'.repeat(dots.length - 1))];
    const names = plain === '' ? what.split(',').map((one) => [from, nameIn(one)].join('.')) : plain.split(',').map(nameIn);
    return bases.flatMap((base) => names.flatMap((name) => moduleFiles(name, base)));
  });
}

function nameIn(one: string): string {
  return one.trim().split(/\s/)[0] ?? '';
}

/** The files in which Python looks for a module: `a.b` is in `a/b.py`, and the packages `a` and `a/b` run as well. */
export function moduleFiles(name: string, folder: string): readonly string[] {
  const parts = name.split('.').filter((part) => part !== '');
  return parts.flatMap((_, at) => {
    const path = join(folder, ...parts.slice(0, at + 1));
    return [`${path}.py`, join(path, '__init__.py'), ...(at === parts.length - 1 ? [join(path, '__main__.py')] : [])];
  });
}

/** The files of the module that `python -m NAME` runs, including missing ones: Python prefers one in its folder to an installed one. */
export function moduleRun([program = '', ...args]: readonly string[], folder: string): readonly string[] {
  if (!isPython(program)) return [];
  const at = args.findIndex((word) => !word.startsWith('-') || /^-[A-Za-z]*m/.test(word));
  const [, attached] = /^-[A-Za-z]*?m(.*)$/.exec(args[at] ?? '') ?? [];
  return attached === undefined ? [] : moduleFiles(attached || (args[at + 1] ?? ''), folder);
}
