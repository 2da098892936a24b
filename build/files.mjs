// Lists the project's own files. Paths are relative to the root, with forward slashes, in a stable order.

import { existsSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** The folders whose sources end up in the product. */
export const sourceFolders = ['core', 'main', 'preload', 'renderer'];

/** @param {string} path */
export const isTestFile = (path) => /\.(test|spec|e2e)\.ts$/.test(path) || path.startsWith('tests/');

/**
 * Every file below the given folders; folders that do not exist count as empty.
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {string[]}
 */
export function listFiles(root, folders) {
  const found = [];
  for (const folder of folders) {
    const base = join(root, folder);
    if (!existsSync(base)) continue;
    for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = relative(root, join(entry.parentPath ?? entry.path, entry.name));
      found.push(sep === '/' ? path : path.replaceAll(sep, '/'));
    }
  }
  return found.sort();
}
