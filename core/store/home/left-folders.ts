// Folders that a process made for itself in a shared place, and left when it was killed: known by the process number in their names.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';

/** Paths of this user's folders named `PREFIX<process number>-…` whose process has ended. Follows no link. */
export function leftFolders(parent: string, prefix: string): string[] {
  return readdirSync(parent).flatMap((name) => {
    const pid = name.startsWith(prefix) ? Number(/^(\d+)-/.exec(name.slice(prefix.length))?.[1]) : Number.NaN;
    if (!Number.isInteger(pid) || isRunning(pid)) return [];
    const stat = lstatSync(join(parent, name), { throwIfNoEntry: false });
    return stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid) ? [join(parent, name)] : [];
  });
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // The process belongs to another user, but exists.
    return errnoOf(cause) === 'EPERM';
  }
}
