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
  /(?:^|\/)(?:\.[^/]+|tsconfig[^/]*\.json|package(?:-lock)?\.json|knip\.json|[^/]+\.config\.[cm]?[jt]s)$|^build\/check[\w-]*\.mjs$/;
/** Marks files that declare types which other files see without importing them. */
const AMBIENT = /^\s*declare (?:module|global)\b/m;
const IMPORTED = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(?<path>[^'"\n]+)\1|\bpath="(?<reference>\.[^"\n]+)"/g;

/**
 * @typedef {object} Held
 * @property {(paths: readonly string[]) => string} keyOf the key of the contents of these files and of all their imports
 * @property {(path: string) => string} keyOfOne the key of this file's content alone
 * @property {(check: string) => Set<string>} read
 * @property {(check: string, keys: readonly string[]) => void} write
 * @property {readonly string[]} paths every file of the project
 * @property {string} folder where a check can cache data; it changes with settings or versions
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
  // The packages npm installed last, which may differ from the lock file.
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
 * A relative path that matches no project file may be resolved by rules that are not implemented here, so it counts as importing every
 * file.
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
