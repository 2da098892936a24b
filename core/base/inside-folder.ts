// Compares paths by their text only. Both must be absolute, and real paths where links matter. Ignores case on Windows.

import { isAbsolute, relative, sep } from 'node:path';

/** Returns whether the path is strictly below the folder. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && leadsDown(way);
}

/** Returns whether `path` is `folder` or inside it. The root of a disk contains everything. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || leadsDown(relative(folder, path));
}

function leadsDown(way: string): boolean {
  // On another disk, the relative path is absolute.
  return way !== '..' && !way.startsWith('..' + sep) && !isAbsolute(way);
}
