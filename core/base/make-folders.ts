// Creates a folder and its parents. The only module that does so: Node's own `recursive` never returns below /proc, where a folder can
// neither be created nor found. Calls the file system only through its parameters.

import { dirname } from 'node:path';

/** The part of `node:fs` used here. */
export interface FolderCalls {
  mkdirSync(path: string, options: { readonly mode: number }): unknown;
  statSync(path: string, options: { readonly throwIfNoEntry: false }): { isDirectory(): boolean } | undefined;
}

const privateMode = 0o700;

/** Returns the highest folder that was created, or null if all existed. Fails with the error of the file system. */
export function makeFolders(fs: FolderCalls, folder: string, mode = privateMode): string | null {
  const missing: string[] = [];
  for (let at = folder; fs.statSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  // If the path exists but is not a folder, mkdir fails with the right error.
  if (missing.length === 0 && !isFolder(fs, folder)) fs.mkdirSync(folder, { mode });
  const highest = missing.at(-1) ?? null;
  for (const path of missing.reverse()) {
    try {
      fs.mkdirSync(path, { mode });
    } catch (cause) {
      // Another process may have created the folder in the meantime.
      if (!isFolder(fs, path)) throw cause;
    }
  }
  return highest;
}

function isFolder(fs: FolderCalls, path: string): boolean {
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
