// The files of a project that decide what its commands run: their places, and the content of small ones. Reads, changes nothing.

import { existsSync, lstatSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

/** The form of a command that runs code the project itself defines. */
export interface TaskForm {
  /** Null if the arguments or the project's settings may change what runs. */
  readonly family: readonly string[] | null;
  /** Files that decide what runs, relative to the folder, including missing ones. */
  readonly bindings: readonly string[];
  /** The line that will run, if a file says so. */
  readonly remark: string | null;
  readonly operands: readonly string[];
}

export function isInOrAbove(cwd: string, file: string): boolean {
  return foldersAbove(cwd).some((folder) => existsSync(join(folder, file)));
}

/** The folder and all its parents. */
export function foldersAbove(folder: string): readonly string[] {
  const folders = [folder];
  for (let above = folder; dirname(above) !== above;) {
    above = dirname(above);
    folders.push(above);
  }
  return folders;
}

/** The text of a file up to this size; null if nothing is there, undefined if something is there but cannot be read as text. */
export function readSmall(path: string, bytesMax: number): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return look(path) === null ? null : undefined;
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // There, but unreadable.
    return undefined;
  }
}

/** The kind of thing at a path, links not followed. */
export function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // A part of the path is a file: nothing is there.
    return null;
  }
}
