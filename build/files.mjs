// Lists the project's own files. Paths are relative to the root, with forward slashes, in a stable order.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('..', import.meta.url));

/** The folders whose sources are part of the product. */
export const sourceFolders = ['core', 'main', 'preload', 'renderer'];

const NOT_OURS = new Set(['.git', 'node_modules', 'dist', 'release', 'coverage', '.bench', 'test-results']);
/** The packages that `npm ci --prefix build/audit` installs. */
const AUDIT_PACKAGES = 'build/audit/node_modules/';

/** @param {string} path */
export const isTestFile = (path) => /\.(test|spec|e2e)\.ts$/.test(path) || path.startsWith('tests/');

/**
 * Lists every file below the given folders. Missing folders count as empty; links are not followed.
 * @param {string} root
 * @param {readonly string[]} folders
 * @returns {string[]}
 */
export function listFiles(root, folders) {
  /** @type {string[]} */
  const found = [];
  for (const folder of folders) if (existsSync(join(root, folder))) walk(root, folder, found);
  return found.sort();
}

/**
 * A hand-written walk, because this runs at every start: recursive readdir takes three times as long.
 * @param {string} root
 * @param {string} folder
 * @param {string[]} found
 */
function walk(root, folder, found) {
  for (const entry of readdirSync(`${root}/${folder}`, { withFileTypes: true })) {
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) walk(root, path, found);
    else if (entry.isFile()) found.push(path);
  }
}

/**
 * Lists every file of the project, in any folder.
 * @param {string} root
 */
export function listProjectFiles(root) {
  const entries = readdirSync(root, { withFileTypes: true }).filter((entry) => !NOT_OURS.has(entry.name));
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  return [...files, ...listFiles(root, folders)].filter((path) => !path.startsWith(AUDIT_PACKAGES)).sort();
}
