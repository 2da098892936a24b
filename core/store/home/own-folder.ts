// Whether the folder of the local socket is the person's alone. There is no way here to ask a socket who is at its other end, so the
// folder it lies in is what keeps others out.

import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';

const writableByOthers = 0o022;

/** Why the folder is not to be trusted, or null. What others could write into may hold a socket of theirs. Says nothing on Windows. */
export function looseFolder(folder: string): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  const info = lstatSync(folder, { throwIfNoEntry: false });
  if (info === undefined || !info.isDirectory()) return `${folder} is not a folder.`;
  if (info.uid !== uid) return `The folder ${folder} belongs to someone else.`;
  if ((info.mode & writableByOthers) !== 0) return `Others can write into the folder ${folder}.`;
  return null;
}

/** Somebody else's socket at a known place, or one in a folder others can write into, must never be given our token. */
export function isOwnSocket(socketPath: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  try {
    if (looseFolder(dirname(socketPath)) !== null) return false;
    const info = lstatSync(socketPath, { throwIfNoEntry: false });
    return info !== undefined && info.isSocket() && info.uid === uid;
  } catch {
    // A folder we may not even look into is not ours.
    return false;
  }
}
