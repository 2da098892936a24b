// The state of a file on disk, as far as taint marks depend on it.

import { accessSync, constants, existsSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pointerTarget } from '../../base/git-places.ts';

const INDEX_BYTES_MAX = 32_000_000;

export const filesOnDisk = {
  exists: existsSync,
  isExecutable,
  isFolder: (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true,
  isTracked,
};

/** Returns whether git lists the file, so that it has a content of it, although the file itself may be gone. */
function isTracked(path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    const stats = lstatSync(git, { throwIfNoEntry: false });
    if (stats !== undefined) return lists(stats.isFile() ? pointerTarget(git, readFileSync(git, 'utf8')) : git, relative(folder, path));
    if (dirname(folder) === folder) return false;
  }
}

function lists(own: string | null, path: string): boolean {
  const index = own === null ? null : join(own, 'index');
  const stats = index === null ? undefined : lstatSync(index, { throwIfNoEntry: false });
  if (index === null || stats?.isFile() !== true || stats.size > INDEX_BYTES_MAX) return false;
  return readFileSync(index).includes(`${path.replaceAll(sep, '/')}\0`);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: neither can be started directly.
    return false;
  }
}
