// Finds the repository git would use in a folder, and checks whether anything in it could make git run code. Searches as git does: upwards,
// the folder before its parents, following pointer files. Anything unusual is reported as a problem, so that the command needs approval.

import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { isGitForm, pointerTarget, type GitFolders } from '../../base/git-places.ts';
import { configProblem } from '../../base/git-settings.ts';
import { isInside } from '../../base/inside-folder.ts';
import { readIndex, type TrackedFiles } from './git-index.ts';
import { look, readSmall } from './project-files.ts';

export interface RepositoryLook {
  /** Why git may do more here than the command says, as the end of "this repository …". Null if there is no sign of it. */
  readonly problem: string | null;
  /** Files that determine what git runs here, including missing ones. */
  readonly bindings: readonly string[];
  readonly tracked: readonly string[];
  readonly root: string | null;
  /** Null without a repository that can be used. */
  readonly folders: GitFolders | null;
}

const SETTINGS_BYTES_MAX = 256_000;
const INDEX_BYTES_MAX = 32_000_000;
const SUBMODULES_MAX = 20;
const DEPTH_MAX = 3;

/**
 * Keeps git from writing to its index (`git status` obeys the variable, `git diff` the setting), from starting a pager in a terminal, from
 * asking a file system monitor for changes, from running hooks, from treating an ordinary folder as a repository, and from showing the past
 * of a submodule, even if the repository changes before the command runs.
 */
export const quietGit: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_CONFIG_COUNT: '5',
  GIT_CONFIG_KEY_0: 'diff.autoRefreshIndex',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
  GIT_CONFIG_KEY_2: 'core.hooksPath',
  GIT_CONFIG_VALUE_2: '/dev/null',
  GIT_CONFIG_KEY_3: 'safe.bareRepository',
  GIT_CONFIG_VALUE_3: 'explicit',
  GIT_CONFIG_KEY_4: 'diff.submodule',
  GIT_CONFIG_VALUE_4: 'short',
};

export function lookAtRepository(cwd: string, opened: readonly string[]): RepositoryLook {
  return new Look(opened).from(cwd);
}

class Look {
  readonly #opened: readonly string[];
  readonly #bindings: string[] = [];
  readonly #tracked: string[] = [];
  /** The folders of the outer repository, which comes before its submodules. */
  #folders: GitFolders | null = null;
  #submodules = 0;

  constructor(opened: readonly string[]) {
    this.#opened = opened;
  }

  from(cwd: string): RepositoryLook {
    const found = discover(cwd);
    if (found === null) {
      this.#bindings.push(join(cwd, '.git', 'config'));
      return this.#end(null, null);
    }
    if (found.problem !== null) return this.#end(found.problem, null);
    return this.#end(this.#repository(found.root, 0), found.root);
  }

  #end(problem: string | null, root: string | null): RepositoryLook {
    return { problem, bindings: this.#bindings, tracked: this.#tracked, root, folders: this.#folders };
  }

  #isOpened(path: string): boolean {
    return this.#opened.some((folder) => isInside(path, folder));
  }

  #repository(root: string, depth: number): string | null {
    if (!this.#isOpened(root)) return 'begins outside the workspace';
    const folder = gitFolder(root);
    if (folder === null) return 'has an unusual .git';
    const common = commonFolder(folder);
    if (common === null || !this.#isOpened(folder) || !this.#isOpened(common)) return 'keeps its data elsewhere';
    // Git skips a `.git` that it does not recognize as a repository and continues the search in the parent folders.
    if (!isRepository(folder, common)) return 'has an unusual .git';
    this.#folders ??= { own: folder, common };
    return this.#settings(root, folder, common) ?? this.#files(root, folder, depth);
  }

  #settings(root: string, folder: string, common: string): string | null {
    const configs = [join(common, 'config'), join(folder, 'config.worktree'), join(common, 'config.worktree')];
    this.#bindings.push(...new Set(configs), join(root, '.gitattributes'), join(root, '.gitmodules'), join(common, 'info', 'attributes'));
    for (const file of new Set(configs)) {
      const text = readSmall(file, SETTINGS_BYTES_MAX);
      if (text === undefined) return 'has settings that cannot be read';
      const isOwnFolder = (path: string): boolean => join(isAbsolute(path) ? path : join(folder, path)) === root;
      const problem = text === null ? null : configProblem(text, { isOwnFolder, as: 'read' });
      if (problem !== null) return `has its own settings that could run something or lead elsewhere (${problem})`;
    }
    // The only hook that read-only commands run, when they refresh the index.
    const hook = join(common, 'hooks', 'post-index-change');
    this.#bindings.push(hook);
    if (look(hook) !== null) return 'has a hook that git runs here (post-index-change)';
    return look(join(common, 'objects', 'info', 'alternates')) === null ? null : 'borrows its objects from elsewhere';
  }

  #files(root: string, folder: string, depth: number): string | null {
    const tracked = trackedFiles(join(folder, 'index'));
    if (tracked === null) return 'has a list of files that cannot be read';
    this.#tracked.push(...tracked.paths.map((path) => join(root, path)));
    for (const path of tracked.submodules) {
      const inner = join(root, path);
      if (look(join(inner, '.git')) === null) continue;
      if (++this.#submodules > SUBMODULES_MAX || depth >= DEPTH_MAX) return 'has very many repositories in it';
      const problem = this.#repository(inner, depth + 1);
      if (problem !== null) return `holds another one (${path.slice(0, 60)}) that ${problem}`;
    }
    return null;
  }
}

/** Returns the links that are in the place of folders of tracked files. */
export function linksAmong(tracked: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of tracked) {
    for (let folder = dirname(path); !folders.has(folder) && dirname(folder) !== folder; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].filter((folder) => look(folder)?.isSymbolicLink() === true);
}

/** Returns the folder that git takes for the top of the work tree, or null if it is not a plain one. */
export function repositoryRoot(cwd: string): string | null {
  const found = discover(cwd);
  return found === null || found.problem !== null ? null : found.root;
}

/** Returns null without a plain repository. */
export function repositoryFolders(cwd: string): GitFolders | null {
  const root = repositoryRoot(cwd);
  const own = root === null ? null : gitFolder(root);
  const common = own === null ? null : commonFolder(own);
  return own === null || common === null ? null : { own, common };
}

/** Returns the folder git uses as the top of the repository, or null if git finds none. */
function discover(cwd: string): { root: string; problem: string | null } | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (look(join(folder, '.git')) !== null) return { root: folder, problem: null };
    // Git treats a folder with the layout of a .git folder as a repository, whose settings may come from anywhere.
    if (isGitForm(formOf(folder))) return { root: folder, problem: 'is a bare one' };
    if (dirname(folder) === folder) return null;
  }
}

function formOf(folder: string): ReadonlySet<string> {
  return new Set(
    ['HEAD', 'objects', 'refs', 'commondir'].filter((name) => look(join(folder, name)) !== null).map((name) => name.toLowerCase()),
  );
}

function gitFolder(root: string): string | null {
  const path = join(root, '.git');
  const stat = look(path);
  if (stat?.isDirectory() === true) return path;
  if (stat?.isFile() !== true) return null;
  return plainFolder(pointerTarget(path, readSmall(path, SETTINGS_BYTES_MAX) ?? ''));
}

function commonFolder(folder: string): string | null {
  const pointer = join(folder, 'commondir');
  const text = readSmall(pointer, SETTINGS_BYTES_MAX);
  if (text === null) return folder;
  return text === undefined ? null : plainFolder(pointerTarget(pointer, text));
}

function isRepository(folder: string, common: string): boolean {
  const head = readSmall(join(folder, 'HEAD'), SETTINGS_BYTES_MAX);
  if (typeof head !== 'string' || look(join(folder, 'HEAD'))?.isFile() !== true) return false;
  if (!/^(?:ref: refs\/[^\s]+|[0-9a-f]{40})\n?$/.test(head)) return false;
  return look(join(common, 'objects'))?.isDirectory() === true && look(join(common, 'refs'))?.isDirectory() === true;
}

/** Returns the folder if no part of its path is a link, otherwise null. */
function plainFolder(path: string | null): string | null {
  if (path === null) return null;
  for (let part = path; dirname(part) !== part; part = dirname(part)) {
    if (look(part)?.isDirectory() !== true) return null;
  }
  return path;
}

function trackedFiles(index: string): TrackedFiles | null {
  try {
    const stat = statSync(index, { throwIfNoEntry: false });
    if (stat === undefined) return { paths: [], submodules: [] };
    return stat.isFile() && stat.size <= INDEX_BYTES_MAX ? readIndex(readFileSync(index)) : null;
  } catch {
    // Unreadable, so the tracked files are unknown.
    return null;
  }
}
