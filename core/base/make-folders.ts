// Creates a folder and its parents. The only place that does: Node's own `recursive` never returns below /proc, where a folder can neither
// be created nor found. Calls the file system only through its parameters.

import { dirname } from 'node:path';

/** The part of `node:fs` used here. */
export interface FolderCalls {
  mkdirSync(path: string, options: { readonly mode: number }): unknown;
  statSync(path: string, options: { readonly throwIfNoEntry: false }): { isDirectory(): boolean } | undefined;
}

const privateMode = 0o700;

/** Returns the highest folder that was made, or null where all were there. Fails with the error of the file system. */
export function makeFolders(fs: FolderCalls, folder: string, mode = privateMode): string | null {
  const missing: string[] = [];
  for (let at = folder; fs.statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  // An existing path that is not a folder makes mkdir fail with the right error.
  if (missing.length === 0 && !isFolder(fs, folder)) fs.mkdirSync(folder, { mode });
  const highest = missing.at(-1) ?? null;
  for (const path of missing.reverse()) {
    try {
      fs.mkdirSync(path, { mode });
    } catch (cause) {
      // Another process may have made it in between.
      if (!isFolder(fs, path)) throw cause;
    }
  }
  return highest;
}

function isFolder(fs: FolderCalls, path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
