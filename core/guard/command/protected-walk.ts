// The port to the places a command may reach, and the search for protected files in a folder that the command walks. Searches by name, does
// not follow links, and is bounded. An unfinished search counts as unknown.

import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import type { PathFact } from '../../contracts/tools.ts';
import { hasExceptions, ignoredFolders, isIgnoreFile } from './ignore-files.ts';
import { readSmall } from './project-files.ts';
import type { FolderWalk } from './read-command.ts';

export interface CommandPlaces {
  /** Resolves `given` as a command in `cwd` (a real path) would. A `~` in it is literal. */
  fact(given: string, cwd: string, access: PathFact['access']): PathFact;
  /** Returns why no grant covers a real path, judged by the path alone, or null. */
  protectionOf(real: string): string | null;
  /** Real paths of the folders the agent may work in. */
  readonly opened: readonly string[];
  /** TrayClaw's own data folder, real path. */
  readonly home: string;
  /** The folder an unquoted `~` expands to. */
  readonly userHome: string;
}

export interface WalkFinding {
  /** Real paths of the protected places that were found, at most a few. */
  readonly places: readonly string[];
  /** False if there was more than could be checked. */
  readonly isComplete: boolean;
}

const ENTRIES_MAX = 30_000;
const DEPTH_MAX = 64;
const PLACES_MAX = 3;
const GIT_FILE_BYTES_MAX = 256_000;

/** The names inside these folders reveal nothing that needs protection; their content may. */
const harmlessNames = new Set(['.git', '.husky', '.svn', '.hg']);

/** Protected because git runs what they say. Reading them reveals nothing else, unless they contain a credential. */
const gitRuns = /[\\/]\.git[\\/](?:config|config\.worktree|hooks(?:[\\/][^\\/]+)?)$/;
const credential = /:\/\/[^\s/]*:[^\s/]*@|https?:\/\/[^\s/]*@|extraheader|authorization|bearer|pass|token|secret|api_?key|cookie/i;

/** `root` must be a real path that is not itself protected. */
export function findProtected(root: string, walk: Omit<FolderWalk, 'root'>, protectionOf: (real: string) => string | null): WalkFinding {
  const ignored = walk.obeysIgnoreFiles === true ? ignoredFolders(root) : [];
  const found = new Walker(walk, ignored, protectionOf).run(root);
  if ((walk.entersHidden && ignored.length === 0) || !hasExceptions(root, found.ignoreFiles)) return found;
  return new Walker({ ...walk, entersHidden: true }, [], protectionOf).run(root);
}

interface Pending {
  readonly folder: string;
  readonly depth: number;
  /** True in a folder whose names need no protection. */
  readonly areNamesHarmless: boolean;
  /** Names of folders that an ignore file leaves out. None in a repository within another, which has its own ignore files. */
  readonly ignored: readonly string[];
}

class Walker {
  readonly #walk: Omit<FolderWalk, 'root'>;
  readonly #ignored: readonly string[];
  readonly #protectionOf: (real: string) => string | null;
  readonly #places: string[] = [];
  readonly #ignoreFiles: string[] = [];
  readonly #pending: Pending[] = [];
  #entries = 0;
  #isComplete = true;

  constructor(walk: Omit<FolderWalk, 'root'>, ignored: readonly string[], protectionOf: (real: string) => string | null) {
    this.#walk = walk;
    this.#ignored = ignored;
    this.#protectionOf = protectionOf;
  }

  run(root: string): WalkFinding & { readonly ignoreFiles: readonly string[] } {
    this.#pending.push({ folder: root, depth: 1, areNamesHarmless: false, ignored: this.#ignored });
    for (let next = this.#pending.pop(); next !== undefined && this.#mayContinue(); next = this.#pending.pop()) {
      if (next.depth > (this.#walk.depthMax ?? Infinity)) continue;
      if (next.depth > DEPTH_MAX) this.#isComplete = false;
      else this.#visitAll(entriesOf(next.folder), next);
    }
    return { places: this.#places, isComplete: this.#isComplete, ignoreFiles: this.#ignoreFiles };
  }

  #mayContinue(): boolean {
    if (this.#entries > ENTRIES_MAX) this.#isComplete = false;
    return this.#isComplete && this.#places.length < PLACES_MAX;
  }

  #visitAll(entries: readonly Dirent[], pending: Pending): void {
    const isApart = pending.depth > 1 && pending.ignored.length > 0 && entries.some(({ name }) => name === '.git');
    for (const entry of entries) this.#visit(entry, isApart ? { ...pending, ignored: [] } : pending);
  }

  #visit(entry: Dirent, { folder, depth, ignored, ...above }: Pending): void {
    this.#entries += 1;
    const { name } = entry;
    const path = join(folder, name);
    if (isIgnoreFile(name)) this.#ignoreFiles.push(path);
    const isFolder = entry.isDirectory();
    if (!this.#isReached(name, isFolder, ignored)) return;
    if (this.#isOpened(entry)) {
      this.#visitOpened(entry, path);
      return;
    }
    const areNamesHarmless = this.#walk.shows === 'names' && (above.areNamesHarmless || harmlessNames.has(name));
    if (this.#walk.shows === 'names' && (!isFolder || (areNamesHarmless && this.#walk.opens === undefined))) return;
    if (!areNamesHarmless && this.#isProtected(path, isFolder)) this.#places.push(path);
    else if (isFolder) this.#pending.push({ folder: path, depth: depth + 1, areNamesHarmless, ignored });
  }

  #visitOpened(entry: Dirent, path: string): void {
    if (this.#isProtected(path, false)) this.#places.push(path);
    // A program follows a link that it is given.
    else if (!entry.isFile()) this.#isComplete = false;
  }

  #isReached(name: string, isFolder: boolean, ignored: readonly string[]): boolean {
    const { leavesOut = [], endings, entersHidden } = this.#walk;
    if (!entersHidden && name.startsWith('.')) return false;
    return isFolder ? ![...leavesOut, ...ignored].includes(name) : endings === undefined || endings.some((ending) => name.endsWith(ending));
  }

  #isProtected(path: string, isFolder: boolean): boolean {
    if (this.#protectionOf(path) === null) return false;
    if (!gitRuns.test(path)) return true;
    // Each file in the folder is checked separately.
    if (isFolder || path.endsWith('.sample')) return false;
    const text = readSmall(path, GIT_FILE_BYTES_MAX);
    return typeof text !== 'string' || credential.test(text);
  }

  #isOpened(entry: Dirent): boolean {
    const { opens } = this.#walk;
    if (opens === undefined || entry.isDirectory() || (opens.areFiles && !entry.isFile())) return false;
    return opens.endings?.some((ending) => entry.name.endsWith(ending)) !== false;
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A command of the same user cannot list the folder either.
    return [];
  }
}
