// Finds the paths that decide what git runs: the one place that knows how git finds a repository, its settings and its hooks. Used before a
// file is written, before and after a confined command, and before git itself is run. Pure; reads the disk through a port.

import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { includedBySettings, namedBySettings } from './git-settings.ts';
import { isInside } from './inside-folder.ts';

export const gitReason = 'git runs commands from it';

export interface GitDisk {
  /** Of the entry itself, without following a link; null if missing. */
  kindOf(path: string): 'file' | 'folder' | 'link' | 'other' | null;
  /** The text of a small file, links followed; null where none can be read. */
  textOf(path: string): string | null;
}

/** The entries git looks for in a repository's folder; each decides what git runs, or points to the place that does. */
const ownEntries: ReadonlySet<string> = new Set(
  'head config config.worktree commondir gitdir hooks info objects refs modules worktrees packed-refs index'.split(' '),
);
const CONFIGS_MAX = 20;

/** Git takes a folder of this form for a repository when it runs in it, regardless of its name. `names` in lower case. */
export function isGitForm(names: ReadonlySet<string>): boolean {
  return names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
}

/** The target of a pointer: the text of a file `.git` (`gitdir: …`) or `commondir`. Null if git would not follow it. */
export function pointerTarget(path: string, text: string): string | null {
  const isPointer = /(?:^|[\\/])\.git$/i.test(path);
  const target = isPointer ? /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text)?.[1] : text.replace(/[\r\n]+$/, '');
  if (target === undefined || target === '' || /[\r\n]/.test(target)) return null;
  return isAbsolute(target) ? join(target) : join(dirname(path), target);
}

export interface GitFolders {
  /** The folder of this checkout; `common` holds settings and hooks, and is the same where there is one checkout. */
  readonly own: string;
  readonly common: string;
}

/** The folders git reads for the repository at `root` (`root` itself for a bare one), or null if it is none. */
export function gitFoldersOf(root: string, disk: GitDisk): GitFolders | null {
  const own = ownFolderOf(root, disk);
  return own === null ? null : { own, common: commonFolderOf(own, disk) };
}

function ownFolderOf(root: string, disk: GitDisk): string | null {
  const entry = join(root, '.git');
  const kind = disk.kindOf(entry);
  if (kind === 'file') return pointerTarget(entry, disk.textOf(entry) ?? '');
  if (kind !== null) return entry;
  return disk.kindOf(join(root, 'HEAD')) === null ? null : root;
}

function commonFolderOf(own: string, disk: GitDisk): string {
  const pointer = join(own, 'commondir');
  const text = disk.kindOf(pointer) === null ? null : disk.textOf(pointer);
  return text === null ? own : (pointerTarget(pointer, text) ?? own);
}

/** Every file of settings git reads there, the machine's and the person's own first, includes followed. */
export function configsOf({ own, common }: GitFolders, userHome: string, disk: GitDisk): Map<string, string> {
  const texts = new Map<string, string>();
  const waiting = [join(own, 'config.worktree'), join(common, 'config.worktree'), join(common, 'config'), ...personalConfigs(userHome)];
  for (let path = waiting.pop(); path !== undefined && texts.size < CONFIGS_MAX; path = waiting.pop()) {
    const text = texts.has(path) ? null : disk.textOf(path);
    if (text === null) continue;
    texts.set(path, text);
    waiting.push(...includedBySettings(text, dirname(path), userHome));
  }
  return texts;
}

function personalConfigs(userHome: string): string[] {
  return [join(userHome, '.config', 'git', 'config'), join(userHome, '.gitconfig'), '/etc/gitconfig'];
}

/** The paths named by the settings of the repository at `root`: hooks elsewhere, filters, monitors, further settings. Absolute. */
export function namedFor(root: string, folders: GitFolders, userHome: string, disk: GitDisk): string[] {
  return [...configsOf(folders, userHome, disk)].flatMap(([path, text]) =>
    namedBySettings(text, { root, folder: dirname(path), userHome }),
  );
}

export interface WrittenPath {
  readonly real: string;
  /** The same with the spellings folded that a disk may take for one name; lower case. */
  readonly folded: string;
  readonly userHome: string;
}

/**
 * Returns why a write to this path could change what git runs for a person, or null. Checks the path's letters first: everything in a
 * `.git`, and the two names that make a folder a repository. Then the folders above it.
 */
export function gitWriteReason({ real, folded, userHome }: WrittenPath, disk: GitDisk): string | null {
  const parts = folded.split(sep);
  const name = parts.at(-1);
  // The second is the short name Windows gives the first.
  if (parts.includes('.git') || parts.includes('git~1')) return gitReason;
  if (name === 'head' || name === 'commondir') return 'git takes a folder with such a file for a repository';
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if (isOfRepository(real, folder, disk) || isNamedIn(real, folder, userHome, disk)) return gitReason;
    if (dirname(folder) === folder) return null;
  }
}

/** Returns whether the path is in a folder that is, or is becoming, a bare repository. */
function isOfRepository(real: string, folder: string, disk: GitDisk): boolean {
  const first = relative(folder, real).split(sep)[0]?.toLowerCase() ?? '';
  return ownEntries.has(first) && disk.kindOf(join(folder, 'HEAD')) !== null;
}

function isNamedIn(real: string, root: string, userHome: string, disk: GitDisk): boolean {
  if (disk.kindOf(join(root, '.git')) === null) return false;
  const folders = gitFoldersOf(root, disk);
  if (folders === null) return false;
  if ([folders.own, folders.common].some((folder) => isGitEntry(real, folder))) return true;
  return namedFor(root, folders, userHome, disk).some((named) => isInside(real, named));
}

/** For a folder that a pointer leads to, regardless of its name and form. */
function isGitEntry(real: string, folder: string): boolean {
  return isInside(real, folder) && ownEntries.has(relative(folder, real).split(sep)[0]?.toLowerCase() ?? '');
}
