// Finds the paths that determine what git runs. The only module that knows how git finds a repository, its settings and its hooks. Used
// before a file is written, around a confined command, and before git itself is run. Pure; reads the disk through a port.

import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { includedBySettings, namedBySettings } from './git-settings.ts';
import { isInside } from './inside-folder.ts';

export const gitReason = 'git runs commands from it';

export interface GitDisk {
  /** Returns the kind of the entry itself, without following a link, or null if it is missing. */
  kindOf(path: string): 'file' | 'folder' | 'link' | 'other' | null;
  /** Returns the text of a small file, following links, or null if it cannot be read. */
  textOf(path: string): string | null;
}

/** The entries git looks for in a repository's folder. Each determines what git runs, or points to a place that does. */
const ownEntries: ReadonlySet<string> = new Set(
  'head config config.worktree commondir gitdir hooks info objects refs modules worktrees packed-refs index'.split(' '),
);
const CONFIGS_MAX = 20;

/** Git treats a folder with these entries as a repository when it runs in it, whatever its name. `names` must be in lower case. */
export function isGitForm(names: ReadonlySet<string>): boolean {
  return names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
}

/** Returns the target of a pointer: the text of a `.git` file (`gitdir: …`) or of `commondir`. Returns null if git would not follow it. */
export function pointerTarget(path: string, text: string): string | null {
  const isPointer = /(?:^|[\\/])\.git$/i.test(path);
  const target = isPointer ? /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text)?.[1] : text.replace(/[\r\n]+$/, '');
  if (target === undefined || target === '' || /[\r\n]/.test(target)) return null;
  return isAbsolute(target) ? join(target) : join(dirname(path), target);
}

export interface GitFolders {
  /** The folder of this checkout. `common` contains settings and hooks, and is the same folder if there is only one checkout. */
  readonly own: string;
  readonly common: string;
}

/** Returns the folders git reads for the repository at `root` (`root` itself for a bare one), or null if there is no repository. */
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

/** Returns every settings file git reads there, starting with those of the machine and the person, including included files. */
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

/** Returns the paths named by the settings of the repository at `root`: hooks elsewhere, filters, monitors, further settings. Absolute. */
export function namedFor(root: string, folders: GitFolders, userHome: string, disk: GitDisk): string[] {
  return [...configsOf(folders, userHome, disk)].flatMap(([path, text]) =>
    namedBySettings(text, { root, folder: dirname(path), userHome }),
  );
}

export interface WrittenPath {
  readonly real: string;
  /** `real` in lower case, with spellings folded that a disk may treat as the same name. */
  readonly folded: string;
  readonly userHome: string;
}

/**
 * Returns why a write to this path could change what git runs for a person, or null. Checks the path itself first: everything in a `.git`,
 * and the two names that turn a folder into a repository. Then checks the parent folders.
 */
export function gitWriteReason({ real, folded, userHome }: WrittenPath, disk: GitDisk): string | null {
  const parts = folded.split(sep);
  const name = parts.at(-1);
  // `git~1` is the short name that Windows gives `.git`.
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

/** Returns whether the path is a git entry of a folder that a pointer leads to, whatever the folder's name and form. */
function isGitEntry(real: string, folder: string): boolean {
  return isInside(real, folder) && ownEntries.has(relative(folder, real).split(sep)[0]?.toLowerCase() ?? '');
}
