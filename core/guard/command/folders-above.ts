// The folders above a place, and whether a file lies in one of them. Looks at names only.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function isInOrAbove(cwd: string, file: string): boolean {
  return foldersAbove(cwd).some((folder) => existsSync(join(folder, file)));
}

/** The folder itself and every one above it. */
export function foldersAbove(folder: string): readonly string[] {
  const folders = [folder];
  for (let above = folder; dirname(above) !== above;) {
    above = dirname(above);
    folders.push(above);
  }
  return folders;
}
