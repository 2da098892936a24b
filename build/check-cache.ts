// Remembers which checks passed for which files, so that a second run only checks changed files. Keys are derived from contents, never from
// times: the file, all its imports, and everything that affects a check (settings, versions, these scripts).

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { listProjectFiles } from './files.mjs';

const CACHE = 'node_modules/.cache/trayclaw-checks';
const CODE = /\.(?:[cm]?[jt]sx?|svelte)$/;
/** Settings of a tool, wherever they are (dot files, configurations, manifests), and the scripts of the checks. */
const DECIDES =
  /(?:^|\/)(?:\.[^/]+|tsconfig[^/]*\.json|package(?:-lock)?\.json|knip\.json|[^/]+\.config\.[cm]?[jt]s)$|^build\/(?:run-)?check[\w-]*\.(?:mjs|ts)$/;
/** Marks files that declare types which other files see without importing them. */
const AMBIENT = /^\s*declare (?:module|global)\b/m;
const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?<path>[^'"\n]+)\1|\bpath="(?<reference>\.[^"\n]+)"/g;

export interface Held {
  /** The key of the contents of these files and of all their imports. */
  readonly keyOf: (paths: readonly string[]) => string;
  /** The key of this file's content alone. */
  readonly keyOfOne: (path: string) => string;
  readonly read: (check: string) => Set<string>;
  readonly write: (check: string, keys: readonly string[]) => void;
  /** Every file of the project. */
  readonly paths: readonly string[];
  /** Where a check can cache data; it changes with settings or versions. */
  readonly folder: string;
}

export function openCheckCache(root: string): Held {
  const paths = listProjectFiles(root);
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path))]));
  const contents = new Map([...texts].map(([path, bytes]) => [path, sha(bytes)]));
  const global = keyOfSettings(root, texts, contents);
  const importsOf = readImports(texts);
  const folder = join(root, CACHE, global);
  dropOthers(join(root, CACHE), global);
  return {
    paths,
    folder,
    keyOfOne: (path) => sha(`${path} ${contents.get(path)}`),
    keyOf(wanted) {
      const seen = closure(wanted, importsOf, paths);
      return sha([...wanted, '', ...paths.filter((path) => seen.has(path)).map((path) => `${path} ${contents.get(path)}`)].join('\n'));
    },
    read(check) {
      const file = join(folder, `${check}.txt`);
      return new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);
    },
    write(check, keys) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${check}.txt`), keys.join('\n'));
    },
  };
}

function sha(value: string | Buffer) {
  return createHash('sha256').update(value).digest('base64url').slice(0, 22);
}

function keyOfSettings(root: string, texts: ReadonlyMap<string, Buffer>, contents: ReadonlyMap<string, string>) {
  // The packages npm installed last, which may differ from the lock file.
  const installed = join(root, 'node_modules/.package-lock.json');
  const lines = [process.version, process.platform, process.arch, existsSync(installed) ? sha(readFileSync(installed)) : ''];
  for (const [path, bytes] of texts) {
    if (DECIDES.test(path) || (CODE.test(path) && AMBIENT.test(bytes.toString()))) lines.push(`${path} ${contents.get(path)}`);
  }
  return sha(lines.join('\n'));
}

function readImports(texts: ReadonlyMap<string, Buffer>): Map<string, readonly string[] | 'anything'> {
  const found: Map<string, readonly string[] | 'anything'> = new Map();
  for (const [path, bytes] of texts) if (CODE.test(path)) found.set(path, importsIn(path, bytes.toString(), texts));
  return found;
}

/**
 * A relative path that matches no project file may be resolved by rules that are not implemented here, so it counts as importing every
 * file.
 */
function importsIn(path: string, text: string, texts: ReadonlyMap<string, Buffer>): readonly string[] | 'anything' {
  const targets: string[] = [];
  for (const { groups } of text.matchAll(IMPORTED)) {
    const specifier = groups?.['path'] ?? groups?.['reference'] ?? '';
    if (specifier === 'trayclaw' || specifier.startsWith('#')) return 'anything';
    if (!specifier.startsWith('.')) continue;
    const target = posix.join(dirname(path), specifier.replace(/\?.*$/, ''));
    if (!texts.has(target)) return 'anything';
    targets.push(target);
  }
  return targets;
}

function closure(from: readonly string[], importsOf: ReadonlyMap<string, readonly string[] | 'anything'>, all: readonly string[]) {
  const seen = new Set(from);
  for (const path of seen) {
    const imports = importsOf.get(path) ?? [];
    if (imports === 'anything') return new Set(all);
    for (const target of imports) seen.add(target);
  }
  return seen;
}

function dropOthers(folder: string, kept: string) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name !== kept) rmSync(join(folder, name), { recursive: true, force: true });
}
