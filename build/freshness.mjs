// Determines whether dist/ was built from the current sources, cheaply enough for every start. Compares names, sizes and times of the
// files, never their content.

import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isTestFile, listFiles, sourceFolders } from './files.mjs';

const BUILD_INPUTS = [
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'build/make-dist.ts',
  'build/framed-pages.ts',
  'build/lazy-zod.ts',
  'build/license-notices.ts',
  'build/one-byte.ts',
  'build/start-chunks.ts',
  'build/vite.node.ts',
  'build/vite.renderer.config.ts',
];

export const stampFile = 'dist/.stamp';

/**
 * @typedef {object} Stamp
 * @property {string} fingerprint the fingerprint of the sources when the build began
 * @property {string[]} files the files the build wrote, relative to dist/
 */

/** @param {string} root */
export function fingerprint(root) {
  const lines = [];
  for (const path of [...listFiles(root, sourceFolders), ...BUILD_INPUTS]) {
    if (isTestFile(path)) continue;
    const stat = statSync(`${root}/${path}`, { throwIfNoEntry: false });
    if (stat) lines.push(`${path} ${stat.size} ${stat.mtimeMs}`);
  }
  return hash('sha1', lines.join('\n'));
}

/**
 * @param {string} root
 * @returns {Stamp | null} null if there is no complete build
 */
export function readStamp(root) {
  try {
    return JSON.parse(readFileSync(join(root, stampFile), 'utf8'));
  } catch {
    return null; // The stamp is missing or incomplete: build again.
  }
}

/** @param {string} root */
export const isFresh = (root) => readStamp(root)?.fingerprint === fingerprint(root);
