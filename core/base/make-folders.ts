// Makes a folder and those above it. The one place that does: Node's own `recursive` never returns below /proc, where a folder can
// neither be made nor found. Owns no file system; the calls are handed in.

import { dirname } from 'node:path';

/** What this needs of `node:fs`. */
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
  // One that is there but is no folder says so itself.
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
