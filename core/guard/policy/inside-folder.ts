// Where a path lies, by letters only: all paths here are absolute real paths already.

import { relative, sep } from 'node:path';

/** Strictly below the folder. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith('..' + sep) && !way.startsWith(sep);
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder);
}

/** As a person knows it: "the workspace", "notes/", or the whole path outside. */
export function showFolder(folder: string, workspace: string): string {
  const way = relative(workspace, folder);
  if (way === '') return 'the workspace';
  return isBelow(folder, workspace) ? `${way}/` : folder;
}
