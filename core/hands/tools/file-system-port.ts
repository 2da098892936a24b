// The few queries that path resolution sends to the file system, as a port, and the real implementation. Changes nothing.

import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { errnoOf } from '../../base/errno.ts';

export interface PathEntry {
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly links: number;
}

/** `absent`: nothing exists there. `unreadable`: something may exist, but it cannot be read. */
export type PathLookup = PathEntry | 'absent' | 'unreadable' | 'too-long';

export interface PathFileSystem {
  lookUp(path: string): PathLookup;
  /** The target of a symbolic link, as written, or null if it is no longer a link. */
  readLink(path: string): string | null;
  /** The name in the folder that is the same text in another Unicode form: `é` as one character or as two. Null if there is none. */
  sameName(folder: string, name: string): string | null;
  /** The text of a small file, following links; null if it cannot be read. */
  readText(path: string): string | null;
}

const TEXT_BYTES_MAX = 256_000;

export const realPathFileSystem: PathFileSystem = { lookUp, readLink, sameName, readText };

/** Caches the answers of the first lookup. Must not be used beyond one check. */
export function rememberLookUps(files: PathFileSystem): PathFileSystem {
  const known = new Map<string, PathLookup>();
  return {
    readLink: (path) => files.readLink(path),
    sameName: (folder, name) => files.sameName(folder, name),
    readText: (path) => files.readText(path),
    lookUp: (path) => {
      const found = known.get(path) ?? files.lookUp(path);
      known.set(path, found);
      return found;
    },
  };
}

function lookUp(path: string): PathLookup {
  try {
    const stat = lstatSync(path);
    const kind = stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
    return { kind, links: stat.nlink };
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    return code === 'ENAMETOOLONG' ? 'too-long' : 'unreadable';
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return null;
  }
}

function sameName(folder: string, name: string): string | null {
  try {
    const wanted = name.normalize();
    return readdirSync(folder).find((other) => other.normalize() === wanted) ?? null;
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return null;
  }
}

function readText(path: string): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= TEXT_BYTES_MAX ? readFileSync(path, 'utf8') : null;
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return null;
  }
}
