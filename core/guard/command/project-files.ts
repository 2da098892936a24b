// The files of a project that say what its commands run: where they lie, and what small ones hold. Looks, changes nothing.

import { existsSync, lstatSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

/** What is known of a command that runs what a project itself defines. */
export interface TaskForm {
  /** Null where the arguments or the project's settings may change what runs. */
  readonly family: readonly string[] | null;
  /** Files that decide what runs, relative to the folder, also those that are not there. */
  readonly bindings: readonly string[];
  /** What will run, where a file says so. */
  readonly remark: string | null;
  readonly operands: readonly string[];
}

export function isInOrAbove(cwd: string, file: string): boolean {
  return foldersAbove(cwd).some((folder) => existsSync(join(folder, file)));
}

/** The folder itself and every one above it. */
export function foldersAbove(folder: string): readonly string[] {
  const folders = [folder];
  for (let above = folder; dirname(above) !== above;) {
    above = dirname(above);
    folders.push(above);
  }
  return folders;
}

/** The text of a file up to this size; null where nothing is, undefined where something is that cannot be read as such. */
export function readSmall(path: string, bytesMax: number): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return look(path) === null ? null : undefined;
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // There, and not to be read.
    return undefined;
  }
}

/** What lies at a path itself, links not followed. */
export function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // A part of the way is a file: nothing is there.
    return null;
  }
}
