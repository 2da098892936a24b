// Reads the ignore files that ripgrep obeys: the folders they leave out, and whether they include names again.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { foldersAbove, readSmall } from './project-files.ts';

const FILE_BYTES_MAX = 256_000;
const names = ['.gitignore', '.ignore', '.rgignore'];
/** A pattern that is one plain name matches at every depth. A blank before it is part of the name. */
const plainName = /^([\w.-]+)\/?[ \t\r]*$/;

export function isIgnoreFile(name: string): boolean {
  return names.includes(name.toLowerCase());
}

/**
 * Returns the names of folders that the search leaves out below `root`. Knows only plain names in `.gitignore` files of a repository, from
 * its top down to `root`.
 */
export function ignoredFolders(root: string): readonly string[] {
  const lines: string[] = [];
  for (const folder of foldersAbove(root)) {
    const text = readSmall(join(folder, '.gitignore'), FILE_BYTES_MAX) ?? '';
    // Ripgrep does not read on after a byte that is not text.
    if (!text.includes('\ufffd')) lines.push(...text.split('\n'));
    if (existsSync(join(folder, '.git'))) return lines.flatMap((line) => plainName.exec(line)?.[1] ?? []);
  }
  return [];
}

/** Returns whether any ignore file that applies at or below `root` may include names again (`!.env`). */
export function hasExceptions(root: string, below: readonly string[]): boolean {
  const above = foldersAbove(root).flatMap((folder) => [...names, '.git/info/exclude'].map((name) => join(folder, name)));
  return [...below, ...above].some((file) => {
    const text = readSmall(file, FILE_BYTES_MAX);
    return text === undefined || (text !== null && /^[ \t]*!/m.test(text));
  });
}
