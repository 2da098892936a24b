// Scans the folders a confined command may write for protected places, before and after it runs. Bounded: a tree too large to scan is
// reported as incomplete, never accepted. Changes nothing and follows no symbolic links.

import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { findGitPlaces, linkAt, pointersBelow, type GitFinding } from './git-scan.ts';
import { protectionOfName, type ProtectedKind, type ProtectedName } from './protected-names.ts';

export interface ProtectedPlace {
  readonly path: string;
  readonly kind: ProtectedKind;
  readonly isFolder: boolean;
  readonly reason: string;
  /** Identifies the version of the entry itself. A changed stamp means changed content. */
  readonly stamp: string;
  /** Which part of a git folder it is; null for a name that is protected anywhere. */
  readonly git: GitFinding['git'] | null;
  readonly mayAppear: boolean;
  /** The target of a symbolic link, as written. A link cannot be made unwritable, only restored. */
  readonly link: string | null;
}

export interface ProtectedScan {
  readonly places: ReadonlyMap<string, ProtectedPlace>;
  /** False if there was more than the limit allows. */
  readonly isComplete: boolean;
}

export interface ScanOptions {
  /** Real paths. */
  readonly folders: readonly string[];
  /** The person's home folder, whose git settings apply everywhere. */
  readonly userHome: string;
  /** Returns whether the person denied access to a path. */
  readonly isDenied: (path: string) => boolean;
  /** Real paths of the code that hooks, verifiers and MCP servers run. */
  readonly programFiles?: readonly string[];
  readonly signal: AbortSignal;
  readonly foldersMax?: number;
}

const FOLDERS_MAX = 50_000;
const FOLDERS_BEFORE_GIVING_WAY = 200;
const PLACES_MAX = 1500;

/** Large folders that cannot make a command run later: git reads no hooks or settings from them. */
const skippedInGitFolder = new Set(['objects', 'refs', 'logs', 'lfs', 'hooks']);

/** Rejects only if the signal aborts. */
export async function scanProtected(options: ScanOptions): Promise<ProtectedScan> {
  const scan = new Scan(options);
  const foldersMax = options.foldersMax ?? FOLDERS_MAX;
  let seen = 0;
  for (let folder = scan.next(); folder !== undefined; folder = scan.next()) {
    if (++seen > foldersMax || scan.places.size > PLACES_MAX) return { places: scan.places, isComplete: false };
    if (seen % FOLDERS_BEFORE_GIVING_WAY === 0) {
      options.signal.throwIfAborted();
      await giveWay();
    }
    scan.lookInto(folder);
  }
  return { places: scan.places, isComplete: true };
}

class Scan {
  readonly places = new Map<string, ProtectedPlace>();
  readonly #options: ScanOptions;
  readonly #waiting: string[];
  readonly #seen = new Set<string>();
  /** Targets of pointers. Git uses these folders whatever their form. */
  readonly #pointedAt = new Set<string>();

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#waiting = [...options.folders];
  }

  next(): string | undefined {
    for (let folder = this.#waiting.pop(); folder !== undefined; folder = this.#waiting.pop()) {
      if (this.#seen.has(folder)) continue;
      this.#seen.add(folder);
      return folder;
    }
    return undefined;
  }

  /** Adds the protected places of a folder, and queues its subfolders. */
  lookInto(folder: string): void {
    const entries = entriesOf(folder);
    if (entries === null) {
      this.#add(folder, { kind: 'code', reason: 'it cannot be looked into' }, { isFolder: true });
      return;
    }
    const isGit = this.#findGit(folder, entries);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      const protection = protectionOfName(entry.name) ?? this.#protectionOf(path);
      if (protection !== null) this.#add(path, protection, { isFolder });
      else if (!isFolder || (isGit && skippedInGitFolder.has(entry.name))) continue;
      else if (entry.name === 'node_modules') this.#waiting.push(...pointersBelow(path));
      else this.#waiting.push(path);
    }
  }

  #protectionOf(path: string): ProtectedName | null {
    const { isDenied, programFiles = [] } = this.#options;
    return isDenied(path) ? listed : programFiles.includes(path) ? programFile : null;
  }

  #findGit(folder: string, entries: readonly Dirent[]): boolean {
    const { folders, userHome } = this.#options;
    const names = new Set(entries.map(({ name }) => name));
    const found = findGitPlaces({ folder, names, isPointedAt: this.#pointedAt.has(folder), writable: folders, userHome });
    for (const { path, git, reason } of found.places) {
      this.#add(path, { kind: 'code', reason }, { isFolder: isFolderItself(path), git });
    }
    for (const target of found.leadsTo) {
      if (this.#pointedAt.has(target)) continue;
      this.#pointedAt.add(target);
      // The folder may have been scanned before it was known to belong to git.
      this.#seen.delete(target);
      if (isFolderItself(target)) this.#waiting.push(target);
    }
    return found.isGitFolder;
  }

  #add(path: string, named: ProtectedName, { isFolder, git }: { readonly isFolder: boolean; readonly git?: GitFinding['git'] }): void {
    const stamp = stampOf(path, isFolder);
    if (stamp === null) return;
    const { kind, reason } = named;
    this.places.set(path, { path, kind, reason, isFolder, git: git ?? null, mayAppear: named.mayAppear === true, ...stamp });
  }
}

const listed: ProtectedName = { kind: 'secret', reason: 'sandbox.files.deny lists it' };
const programFile: ProtectedName = { kind: 'code', reason: 'a hook, a verifier or an MCP server runs it' };

/** A folder counts as unchanged while it is the same folder. Its content is checked separately. */
function stampOf(path: string, isFolder: boolean): Pick<ProtectedPlace, 'stamp' | 'link'> | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (isFolder) return { stamp: `${stat.dev}:${stat.ino}`, link: null };
  const link = stat.isSymbolicLink() ? linkAt(path) : null;
  return { stamp: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.mode}`, link };
}

function isFolderItself(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns null for a folder that cannot be listed. */
function entriesOf(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Unreadable or missing; the caller checks which.
    return null;
  }
}
