// The files of a project that determine what its commands run: their paths, and the content of small ones. Reads only; changes nothing.

import { existsSync, lstatSync, readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

/** A command that runs code defined by the project. */
export interface TaskForm {
  /** Null if the arguments or the project's settings may change what runs. */
  readonly family: readonly string[] | null;
  /** Files that determine what runs, relative to the folder, including missing ones. */
  readonly bindings: readonly string[];
  /** The line that will run, if a file defines it. */
  readonly remark: string | null;
  readonly operands: readonly string[];
}

export function isInOrAbove(cwd: string, file: string): boolean {
  return foldersAbove(cwd).some((folder) => existsSync(join(folder, file)));
}

/** Returns the folder and all its parents. */
export function foldersAbove(folder: string): readonly string[] {
  const folders = [folder];
  for (let above = folder; dirname(above) !== above;) {
    above = dirname(above);
    folders.push(above);
  }
  return folders;
}

const BELOW_MAX = 200;
const DEPTH_MAX = 5;
const hasNoTests = /^(?:\.|node_modules$|__pycache__$|venv$|site-packages$)/;

/** Returns the nearest folders below, without hidden ones, links and installed packages. */
export function foldersBelow(folder: string): readonly string[] {
  const found: string[] = [];
  let level: readonly string[] = [folder];
  for (let depth = 0; depth < DEPTH_MAX && level.length > 0 && found.length < BELOW_MAX; depth++) {
    level = level.flatMap(foldersIn).slice(0, BELOW_MAX - found.length);
    found.push(...level);
  }
  return found;
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && !hasNoTests.test(entry.name)).map(({ name }) => join(folder, name));
  } catch {
    // Unreadable, so a program of this user does not read it either.
    return [];
  }
}

/**
 * Returns the text of a file up to the given size. Null if nothing exists there; undefined if it is too large, unreadable or not a file.
 */
export function readSmall(path: string, bytesMax: number): string | null | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return look(path) === null ? null : undefined;
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(path, 'utf8') : undefined;
  } catch {
    // Exists, but is unreadable.
    return undefined;
  }
}

/** Returns the file status without following links, or null if nothing exists there. */
export function look(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    // Part of the path is a file, so nothing exists there.
    return null;
  }
}
