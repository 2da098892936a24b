// Where a path lies, by letters only: both must be absolute, and real paths where links matter. On Windows capitals do not count.

import { isAbsolute, relative, sep } from 'node:path';

/** Strictly below the folder. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  // Another disk has no relative way to it.
  return way !== '' && way !== '..' && !way.startsWith('..' + sep) && !isAbsolute(way);
}

/** True when `path` is `folder` or lies below it; the root of a disk holds all of it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || relative(folder, path) === '' || isBelow(path, folder);
}
