// Which places a command may touch, as a port to whoever knows the workspace; and whether a folder it would go through by itself holds a
// protected one: names only, never through links, bounded; what cannot be finished counts as not known.

import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PathFact } from '../../contracts/tools.ts';
import type { FolderWalk } from './read-command.ts';

export interface CommandPlaces {
  /** Where `given` leads when a command in `cwd` (a real path) uses it. A `~` in it is a letter. */
  fact(given: string, cwd: string, access: PathFact['access']): PathFact;
  /** Why no grant covers a real path, by its letters alone, or null. */
  protectionOf(real: string): string | null;
  /** Real paths of the folders the agent may work in. */
  readonly opened: readonly string[];
  /** TrayClaw's own data folder, real path. */
  readonly home: string;
  /** What an unquoted `~` stands for. */
  readonly userHome: string;
}

export interface WalkFinding {
  /** Real paths of protected places on the way, a few at most. */
  readonly places: readonly string[];
  /** False when there was more than could be looked at. */
  readonly isComplete: boolean;
}

const ENTRIES_MAX = 30_000;
const DEPTH_MAX = 64;
const PLACES_MAX = 3;
const IGNORE_FILE_BYTES_MAX = 256_000;
const ignoreFiles = ['.gitignore', '.ignore', '.rgignore'];

/** Names of what lies in here say nothing that would need protection; what it holds may. */
const tellNothing = new Set(['.git', '.husky', '.svn', '.hg']);

/** `root` is a real path that is not protected itself. */
export function findProtected(root: string, walk: Omit<FolderWalk, 'root'>, protectionOf: (real: string) => string | null): WalkFinding {
  const found = new Walker(walk, protectionOf).run(root);
  if (walk.entersHidden || !hasExceptions(root, found.ignoreFiles)) return found;
  return new Walker({ ...walk, entersHidden: true }, protectionOf).run(root);
}

class Walker {
  readonly #walk: Omit<FolderWalk, 'root'>;
  readonly #protectionOf: (real: string) => string | null;
  readonly #places: string[] = [];
  readonly #ignoreFiles: string[] = [];
  readonly #pending: { folder: string; depth: number }[] = [];
  #entries = 0;
  #isComplete = true;

  constructor(walk: Omit<FolderWalk, 'root'>, protectionOf: (real: string) => string | null) {
    this.#walk = walk;
    this.#protectionOf = protectionOf;
  }

  run(root: string): WalkFinding & { readonly ignoreFiles: readonly string[] } {
    this.#pending.push({ folder: root, depth: 1 });
    for (let next = this.#pending.pop(); next !== undefined && this.#goesOn(); next = this.#pending.pop()) {
      if (next.depth > (this.#walk.depthMax ?? Infinity)) continue;
      if (next.depth > DEPTH_MAX) this.#isComplete = false;
      else for (const entry of entriesOf(next.folder)) this.#meet(entry, next.folder, next.depth);
    }
    return { places: this.#places, isComplete: this.#isComplete, ignoreFiles: this.#ignoreFiles };
  }

  #goesOn(): boolean {
    if (this.#entries > ENTRIES_MAX) this.#isComplete = false;
    return this.#isComplete && this.#places.length < PLACES_MAX;
  }

  #meet(entry: Dirent, folder: string, depth: number): void {
    this.#entries += 1;
    const { name } = entry;
    const path = join(folder, name);
    if (ignoreFiles.includes(name)) this.#ignoreFiles.push(path);
    if (!this.#walk.entersHidden && name.startsWith('.')) return;
    const isFolder = entry.isDirectory();
    if (this.#walk.shows === 'names' && (!isFolder || tellNothing.has(name))) return;
    if (this.#protectionOf(path) !== null) this.#places.push(path);
    else if (isFolder) this.#pending.push({ folder: path, depth: depth + 1 });
  }
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // What cannot be listed here cannot be listed by a command of the same user either.
    return [];
  }
}

/** Whether any ignore file that counts below `root` brings hidden names back (`!.env`). */
function hasExceptions(root: string, below: readonly string[]): boolean {
  const files = [...below];
  for (let folder = root; ; folder = dirname(folder)) {
    files.push(...ignoreFiles.map((name) => join(folder, name)), join(folder, '.git', 'info', 'exclude'));
    if (dirname(folder) === folder) break;
  }
  return files.some(hasException);
}

function hasException(file: string): boolean {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return false;
    return stat.size > IGNORE_FILE_BYTES_MAX || /^[ \t]*!/m.test(readFileSync(file, 'utf8'));
  } catch {
    // There, but not readable: not read by the command either.
    return false;
  }
}
