// Finds everything in one folder that determines what git runs, for the scan around a confined command: settings, hooks, the pointers that
// lead to them, and the paths that settings name. Reads only; changes nothing.

import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { gitFoldersOf, gitReason, isGitForm, namedFor, pointerTarget, type GitDisk } from '../../base/git-places.ts';
import { configProblem } from '../../base/git-settings.ts';
import { isInside } from '../../base/inside-folder.ts';
import { namesIn } from '../../store/home/home.ts';

export interface GitFinding {
  readonly path: string;
  /** pointer: tells git where settings and hooks are. named: a setting names this path. */
  readonly git: 'config' | 'hooks' | 'hook' | 'pointer' | 'named';
  readonly reason: string;
}

export interface GitFindings {
  readonly places: readonly GitFinding[];
  /** Folders below the write folders that git reads because of a pointer in this folder. */
  readonly leadsTo: readonly string[];
  readonly isGitFolder: boolean;
}

export interface ScannedFolder {
  readonly folder: string;
  readonly names: ReadonlySet<string>;
  /** True if a pointer leads to this folder. */
  readonly isPointedAt: boolean;
  /** The folders a confined command may write. */
  readonly writable: readonly string[];
  readonly userHome: string;
}

const TEXT_BYTES_MAX = 100_000;
const PACKAGES_MAX = 5000;
const nothing: GitFindings = { places: [], leadsTo: [], isGitFolder: false };

/** Compared in lower case, because some disks ignore case. */
const pointers = new Set(['.git', 'commondir']);

export function findGitPlaces(scanned: ScannedFolder): GitFindings {
  const { folder, names, isPointedAt } = scanned;
  const lower = new Set([...names].map((name) => name.toLowerCase()));
  const isGitFolder = isPointedAt || basename(folder).toLowerCase() === '.git' || isGitForm(lower);
  if (!isGitFolder && !lower.has('.git')) return nothing;
  const places: GitFinding[] = [];
  const leadsTo: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    const kind = name.toLowerCase();
    if (isGitFolder) places.push(...placesIn(path, kind));
    if (!pointers.has(kind) || (kind === 'commondir' && !isGitFolder)) continue;
    if (disk.kindOf(path) === 'folder') continue;
    places.push({ path, git: 'pointer', reason: gitReason });
    const target = targetOf(path);
    if (target !== null && scanned.writable.some((open) => isInside(target, open))) leadsTo.push(target);
  }
  if (lower.has('.git')) places.push(...placesNamed(scanned));
  return { places, leadsTo, isGitFolder };
}

function placesIn(path: string, kind: string): GitFinding[] {
  if (kind === 'config' || kind === 'config.worktree') return [{ path, git: 'config', reason: gitReason }];
  if (kind === 'objects') {
    const alternates = join(path, 'info', 'alternates');
    return disk.kindOf(alternates) === null ? [] : [{ path: alternates, git: 'pointer', reason: 'git takes objects from where it leads' }];
  }
  if (kind !== 'hooks') return [];
  const hooks: GitFinding[] = [{ path, git: 'hooks', reason: gitReason }];
  if (disk.kindOf(path) !== 'folder') return hooks;
  for (const name of namesIn(path)) {
    const hook = join(path, name);
    // Git does not run the samples that it creates.
    if (name.endsWith('.sample') && disk.kindOf(hook) === 'file') continue;
    hooks.push({ path: hook, git: 'hook', reason: gitReason });
  }
  return hooks;
}

/** Returns the paths below the write folders that the settings of a repository in this folder name. */
function placesNamed({ folder, writable, userHome }: ScannedFolder): GitFinding[] {
  const folders = gitFoldersOf(folder, disk);
  if (folders === null) return [];
  const named = namedFor(folder, folders, userHome, disk).filter((path) => writable.some((open) => isInside(path, open)));
  return named.map((path) => ({ path, git: 'named', reason: 'a setting of git names it to be run or read' }));
}

/** Returns the target of a pointer: the text of a file, or the target of a symbolic link. Returns null if git would not follow it. */
function targetOf(path: string): string | null {
  if (disk.kindOf(path) === 'link') {
    const link = linkAt(path);
    return link === null ? null : isAbsolute(link) ? join(link) : join(dirname(path), link);
  }
  const text = disk.textOf(path);
  if (text === null) return null;
  if (basename(path) !== 'alternates') return pointerTarget(path, text);
  // Each line names an object folder. Relative paths start from the repository's own object folder.
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const [only, ...more] = lines.map((line) => (isAbsolute(line) ? join(line) : join(dirname(dirname(path)), line)));
  return more.length === 0 ? (only ?? null) : null;
}

/** Returns why a new pointer must be removed, or null. It may only lead to an existing folder below the write folders, which is scanned. */
export function harmOfPointer(path: string, writable: readonly string[]): string | null {
  const target = targetOf(path);
  if (target === null) return 'git cannot follow it as it is';
  if (!writable.some((open) => isInside(target, open))) return 'it leads git out of the folders that were looked through';
  try {
    if (statSync(target).isDirectory() && realpathSync(target) === target) return null;
  } catch {
    // Missing, or cannot be followed.
  }
  return 'it leads git where anything may be put later';
}

/** Returns why a new settings file must be removed, or null. A repository may be created, as long as nothing in it is run. */
export function harmOfConfig(path: string, writable: readonly string[]): string | null {
  const text = disk.kindOf(path) === 'file' ? disk.textOf(path) : null;
  if (text === null) return 'it is not a plain file that can be read';
  const isOwnFolder = (worktree: string): boolean => {
    const meant = isAbsolute(worktree) ? join(worktree) : join(dirname(path), worktree);
    return writable.some((open) => isInside(meant, open));
  };
  const setting = configProblem(text, { isOwnFolder, as: 'kept' });
  return setting === null ? null : `git may run what its setting ${setting} names`;
}

/**
 * Returns the package folders that contain git files. A node_modules folder is too large to be scanned completely, and packages normally
 * contain no repositories, so only the upper levels are checked.
 */
export function pointersBelow(modules: string): string[] {
  const packages = namesIn(modules).slice(0, PACKAGES_MAX);
  const scoped = packages
    .filter((name) => name.startsWith('@'))
    .flatMap((scope) => namesIn(join(modules, scope)).map((name) => join(scope, name)));
  const folders = [modules, ...[...packages, ...scoped].map((name) => join(modules, name))];
  return folders.filter((folder) => ['.git', 'HEAD'].some((name) => disk.kindOf(join(folder, name)) !== null));
}

const disk: GitDisk = {
  kindOf(path) {
    try {
      const stat = lstatSync(path, { throwIfNoEntry: false });
      if (stat === undefined) return null;
      return stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
    } catch {
      // Part of the path is a file, so nothing exists there.
      return null;
    }
  },
  textOf(path) {
    try {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size <= TEXT_BYTES_MAX ? readFileSync(path, 'utf8') : null;
    } catch {
      // Exists, but is unreadable.
      return null;
    }
  },
};

export function linkAt(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    // No longer a link.
    return null;
  }
}
