// Checks that only the person can access the folder of the local socket. The process behind a socket cannot be identified, so the
// permissions of the folder are what protects it.

import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';

const writableByOthers = 0o022;

/**
 * Returns why the folder must not be trusted, or null. A folder that other users can write to may contain their socket. Always null on
 * Windows.
 */
export function looseFolder(folder: string): string | null {
  const uid = process.getuid?.();
  if (uid === undefined) return null;
  const info = lstatSync(folder, { throwIfNoEntry: false });
  if (info === undefined || !info.isDirectory()) return `${folder} is not a folder.`;
  if (info.uid !== uid) return `The folder ${folder} belongs to someone else.`;
  if ((info.mode & writableByOthers) !== 0) return `Others can write into the folder ${folder}.`;
  return null;
}

/** A socket that another user created at a known path, or in a shared folder, must never receive our token. */
export function isOwnSocket(socketPath: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  try {
    if (looseFolder(dirname(socketPath)) !== null) return false;
    const info = lstatSync(socketPath, { throwIfNoEntry: false });
    return info !== undefined && info.isSocket() && info.uid === uid;
  } catch {
    // A folder that cannot be accessed is not ours.
    return false;
  }
}
