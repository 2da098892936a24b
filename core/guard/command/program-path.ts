// Finds the file that the name of a program resolves to, and whether another user could have put it there. Reads only; runs nothing.

import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';

export interface FoundProgram {
  /** Absolute, links not resolved: some programs check the name they were called by. */
  readonly file: string;
  readonly real: string;
  /** True if the program was named without a folder and found on a search path that only the person or the administrator can write. */
  readonly isTrusted: boolean;
}

export interface ProgramSearch {
  readonly cwd: string;
  /** The value of PATH. */
  readonly path: string;
  /** Folders the agent may write to. No program below them is trusted. */
  readonly writable: readonly string[];
  readonly platform: NodeJS.Platform;
}

const PATH_ENTRIES_MAX = 200;

/** The permission bits at a path. Null if they have no meaning (a link), `undefined` if they cannot be read. */
export type ModeOf = (path: string) => number | null | undefined;

/** Returns the file that a shell in `cwd` would start for this name, or null. */
export function findProgram(name: string, search: ProgramSearch, modeOf: ModeOf = modeOnDisk): FoundProgram | null {
  if (name.includes('/') || (search.platform === 'win32' && name.includes('\\'))) {
    const file = isAbsolute(name) ? name : join(search.cwd, name);
    const real = executableAt(file, search.platform);
    return real === null ? null : { file, real, isTrusted: false };
  }
  for (const entry of pathEntries(search)) {
    const folder = isAbsolute(entry) ? entry : join(search.cwd, entry);
    for (const file of candidates(folder, name, search.platform)) {
      const real = executableAt(file, search.platform);
      if (real !== null) return { file, real, isTrusted: isAbsolute(entry) && isOutOfReach({ file, real }, search, modeOf) };
    }
  }
  return null;
}

/** Programs that are many programs, and choose by the name they are called by. */
const manyInOne = /^(?:busybox|toybox|coreutils|gzip|bzip2|unzip|xz|zstd|kmod)(?:[-._].*)?$/;

/**
 * Returns whether the file is the program of that name. A version manager (asdf, mise, Volta, Corepack) takes the place of a program and
 * starts, or first fetches, what a file of the project names.
 */
export function isItself(name: string, { file, real }: Pick<FoundProgram, 'file' | 'real'>): boolean {
  const called = basename(real).toLowerCase();
  return (called.includes(name) || manyInOne.test(called)) && ![file, real].some((path) => /[\\/](?:shims|corepack)[\\/]/.test(path));
}

function pathEntries({ path, platform }: ProgramSearch): readonly string[] {
  return path.split(platform === 'win32' ? ';' : ':').slice(0, PATH_ENTRIES_MAX);
}

/** Windows runs scripts (.cmd, .bat) through a shell, which parses their arguments again, so scripts are never returned. */
function candidates(folder: string, name: string, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32') return [join(folder, name)];
  return /\.(?:exe|com)$/i.test(name) ? [join(folder, name)] : [join(folder, `${name}.exe`), join(folder, `${name}.com`)];
}

function executableAt(file: string, platform: NodeJS.Platform): string | null {
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
    if (platform !== 'win32') accessSync(file, constants.X_OK);
    return realpathSync.native(file);
  } catch {
    // An unreadable file cannot be started either.
    return null;
  }
}

function isOutOfReach({ file, real }: Omit<FoundProgram, 'isTrusted'>, search: ProgramSearch, modeOf: ModeOf): boolean {
  if (search.platform === 'win32') return isSystemFolder(real);
  const isOpen = [file, real].some((path) => search.writable.some((folder) => isInside(path, folder)));
  const isShared = (path: string): boolean => isBelowSharedFolder(path, modeOf);
  return !isOpen && !isWritableByAll(real, modeOf) && (file === real || !isShared(file)) && !isShared(real);
}

/** Returns whether a parent folder is writable by every user, such as the folder for temporary files, with or without a sticky bit. */
function isBelowSharedFolder(path: string, modeOf: ModeOf): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (isWritableByAll(folder, modeOf)) return true;
    if (dirname(folder) === folder) return false;
  }
}

function isWritableByAll(path: string, modeOf: ModeOf): boolean {
  const mode = modeOf(path);
  if (mode === null) return false;
  // Untrusted if the folder disappeared in the meantime.
  return mode === undefined || (mode & 0o002) !== 0;
}

function modeOnDisk(path: string): number | null | undefined {
  try {
    const stat = lstatSync(path);
    // The permission bits of a link have no meaning. Its target is checked by its real path.
    return stat.isSymbolicLink() ? null : stat.mode;
  } catch {
    return undefined;
  }
}

function isSystemFolder(real: string): boolean {
  return /^[a-z]:\\(?:windows|program files|program files \(x86\))\\/i.test(real);
}
