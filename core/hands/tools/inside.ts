// One question about two normalised absolute paths. By letters only: both must be real paths already.

import { sep } from 'node:path';

/** True when `path` is `folder` or lies below it. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true;
  const prefix = folder.endsWith(sep) ? folder : folder + sep;
  return path.startsWith(prefix);
}
