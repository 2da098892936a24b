// Compares paths by letters only: both must be absolute, and real paths where links matter. On Windows case is ignored.

import { isAbsolute, relative, sep } from 'node:path';

/** Strictly below the folder. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // Another disk has no relative way to it.
  return way !== '' && way !== '..' && !way.startsWith('..' + sep) && !isAbsolute(way);
}

/** True when `path` is `folder` or inside it; the root of a disk contains everything. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || relative(folder, path) === '' || isBelow(path, folder);
}
