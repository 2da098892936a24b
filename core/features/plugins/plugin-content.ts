// Hashes every byte that may run in a plugin's file or folder. Only reads.

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { valueAt, jsonIn } from '../../base/json.ts';

export interface PluginContent {
  /** Real path of the file or folder. */
  readonly path: string;
  /** The file that is loaded. */
  readonly entry: string;
  readonly sha256: string;
  /** The hash of each file, by its path. */
  readonly files: ReadonlyMap<string, string>;
}

const BYTES_MAX = 50_000_000;
const FILES_MAX = 10_000;
const isScript = /\.[cm]?[jt]sx?$/;

/** Throws an Error that describes the problem. */
export function readPluginContent(given: string): PluginContent {
  const path = realpathSync(given);
  const isFolder = statSync(path).isDirectory();
  const hashes = new Map<string, string>();
  const hash = createHash('sha256');
  let bytes = 0;
  for (const file of isFolder ? filesBelow(path) : [path]) {
    const content = readFileSync(file);
    const name = relative(path, file).split(sep).join('/');
    bytes += content.length;
    if (bytes > BYTES_MAX) throw new Error(`It holds more than ${BYTES_MAX / 1_000_000} MB.`);
    const outside = !isFolder || isScript.test(file) ? fileOutside(content.toString('utf8'), file, path) : null;
    if (outside !== null)
      throw new Error(
        isFolder
          ? `${name} imports ${outside}, which is outside the folder: the hash would not cover it.`
          : 'It imports neighbouring files, which its hash would not cover. Name its folder instead of the file.',
      );
    // Each text is preceded by its length, so that two different trees never hash the same bytes.
    hash.update(`${Buffer.byteLength(name)} ${name} ${content.length} `).update(content);
    hashes.set(file, hashOf(content));
  }
  return { path, entry: isFolder ? entryOf(path) : path, sha256: hash.digest('hex'), files: hashes };
}

/** Sorted. Refuses links, which could lead to unhashed files. */
function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  if (entries.length > FILES_MAX) throw new Error(`It holds more than ${FILES_MAX} files.`);
  const odd = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (odd !== undefined) throw new Error(`${join(odd.parentPath, odd.name)} is a link or no ordinary file.`);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function entryOf(folder: string): string {
  const main = valueAt(jsonIn(readFileSync(join(folder, 'package.json'), 'utf8')), 'main');
  const entry = realpathSync(join(folder, typeof main === 'string' ? main : 'index.js'));
  if (!entry.startsWith(folder + sep)) throw new Error('Its package.json names a main file outside of it.');
  return entry;
}

/** The first import of another file that the hash does not cover. */
function fileOutside(source: string, file: string, covered: string): string | null {
  for (const [, named = ''] of source.matchAll(/(?:from|import|require)\s*\(?\s*['"`]((?:\.{1,2}\/|\/|file:)[^'"`]*)/g)) {
    if (!named.startsWith('.') || !`${resolve(dirname(file), named)}${sep}`.startsWith(covered + sep)) return named;
  }
  return null;
}

export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
