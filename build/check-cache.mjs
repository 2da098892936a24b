// Remembers which checks held over which files, so that a second run looks only at what changed. Keys are made of contents, never of
// times: the file, all it imports, and everything that decides how a check works (settings, versions, these scripts).

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { listProjectFiles } from './files.mjs';

const CACHE = 'node_modules/.cache/trayclaw-checks';
const CODE = /\.(?:[cm]?[jt]sx?|svelte)$/;
/** Settings of a tool, wherever they are: dot files, configurations, manifests; and the scripts of the checks. */
const DECIDES =
  /(?:^|\/)(?:\.[^/]+|tsconfig[^/]*\.json|package(?:-lock)?\.json|knip\.json|[^/]+\.config\.[cm]?[jt]s)$|^build\/check[\w-]*\.mjs$/;
/** Types that a file can see without importing them. */
const AMBIENT = /^\s*declare (?:module|global)\b/m;
const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?<path>[^'"\n]+)\1|\bpath="(?<reference>\.[^"\n]+)"/g;

/**
 * @typedef {object} Held
 * @property {(paths: readonly string[]) => string} keyOf of the contents of these files and of all that they import
 * @property {(path: string) => string} keyOfOne of the content of this file alone
 * @property {(check: string) => Set<string>} read
 * @property {(check: string, keys: readonly string[]) => void} write
 * @property {readonly string[]} paths every file of the project
 * @property {string} folder where a check can keep what it knows; another one after a change of settings or versions
 */

/**
 * @param {string} root
 * @returns {Held}
 */
export function openCheckCache(root) {
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

/** @param {string | Buffer} value */
function sha(value) {
  return createHash('sha256').update(value).digest('base64url').slice(0, 22);
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, Buffer>} texts
 * @param {ReadonlyMap<string, string>} contents
 */
function keyOfSettings(root, texts, contents) {
  // The packages npm last installed, which may differ from the lock file.
  const installed = join(root, 'node_modules/.package-lock.json');
  const lines = [process.version, process.platform, process.arch, existsSync(installed) ? sha(readFileSync(installed)) : ''];
  for (const [path, bytes] of texts) {
    if (DECIDES.test(path) || (CODE.test(path) && AMBIENT.test(bytes.toString()))) lines.push(`${path} ${contents.get(path)}`);
  }
  return sha(lines.join('\n'));
}

/**
 * @param {ReadonlyMap<string, Buffer>} texts
 * @returns {Map<string, readonly string[] | 'anything'>}
 */
function readImports(texts) {
  /** @type {Map<string, readonly string[] | 'anything'>} */
  const found = new Map();
  for (const [path, bytes] of texts) if (CODE.test(path)) found.set(path, importsIn(path, bytes.toString(), texts));
  return found;
}

/**
 * A path that leads to no file of the project may be found by rules that are not repeated here: then every file counts.
 * @param {string} path
 * @param {string} text
 * @param {ReadonlyMap<string, Buffer>} texts
 * @returns {readonly string[] | 'anything'}
 */
function importsIn(path, text, texts) {
  /** @type {string[]} */
  const targets = [];
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

/**
 * @param {readonly string[]} from
 * @param {ReadonlyMap<string, readonly string[] | 'anything'>} importsOf
 * @param {readonly string[]} all
 */
function closure(from, importsOf, all) {
  const seen = new Set(from);
  for (const path of seen) {
    const imports = importsOf.get(path) ?? [];
    if (imports === 'anything') return new Set(all);
    for (const target of imports) seen.add(target);
  }
  return seen;
}

/**
 * @param {string} folder
 * @param {string} kept
 */
function dropOthers(folder, kept) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name !== kept) rmSync(join(folder, name), { recursive: true, force: true });
}
