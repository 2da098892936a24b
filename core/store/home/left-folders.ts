// Finds folders that a process created in a shared place and left behind when it was killed. Their names contain the process id.

import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';

/** Returns the paths of this user's folders named `PREFIX<process id>-…` whose process has ended. Follows no links. */
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
