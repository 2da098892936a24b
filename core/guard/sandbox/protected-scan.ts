// Looks through the folders a confined command may write for places that are protected in them, before it runs and after. Bounded:
// a tree too large to be looked through is said to be so, never passed. Changes nothing, follows no symbolic link.

import { lstatSync, readdirSync, type Dirent } from 'node:fs';
import { basename, join } from 'node:path';
import { gitReason, protectionOfName, type ProtectedKind, type ProtectedName } from './protected-names.ts';

export interface ProtectedPlace {
  readonly path: string;
  readonly kind: ProtectedKind;
  readonly isFolder: boolean;
  readonly reason: string;
  /** Of the entry itself; another stamp is another content. */
  readonly stamp: string;
  /** Which part of a git folder it is; null for a name that is protected anywhere. */
  readonly git: 'config' | 'hooks' | 'hook' | null;
  readonly mayAppear: boolean;
}

export interface ProtectedScan {
  readonly places: ReadonlyMap<string, ProtectedPlace>;
  /** False when there was more than the bound lets it look at. */
  readonly isComplete: boolean;
}

export interface ScanOptions {
  /** Real paths. */
  readonly folders: readonly string[];
  /** Further places of the person's own choice. */
  readonly isDenied: (path: string) => boolean;
  readonly signal: AbortSignal;
  readonly foldersMax?: number;
}

const FOLDERS_MAX = 50_000;
const FOLDERS_BEFORE_GIVING_WAY = 200;
const PLACES_MAX = 1500;

/** Large, and of no use to who wants a command run later: git reads no hook or setting from there. */
const skippedInGitFolder = new Set(['objects', 'refs', 'logs', 'lfs', 'hooks']);

/** Rejects only when the signal aborts. */
export async function scanProtected(options: ScanOptions): Promise<ProtectedScan> {
  const places = new Map<string, ProtectedPlace>();
  const waiting = [...new Set(options.folders)];
  const foldersMax = options.foldersMax ?? FOLDERS_MAX;
  let seen = 0;
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (++seen > foldersMax || places.size > PLACES_MAX) return { places, isComplete: false };
    if (seen % FOLDERS_BEFORE_GIVING_WAY === 0) {
      options.signal.throwIfAborted();
      await giveWay();
    }
    for (const next of lookInto(folder, options.isDenied, places)) waiting.push(next);
  }
  return { places, isComplete: true };
}

/** Adds what is protected in a folder and returns the folders to look into next. */
function lookInto(folder: string, isDenied: (path: string) => boolean, places: Map<string, ProtectedPlace>): string[] {
  const entries = entriesOf(folder);
  if (entries === null) {
    add(places, folder, { kind: 'code', reason: 'it cannot be looked into' }, { isFolder: true });
    return [];
  }
  const isGit = isGitFolder(folder, entries);
  if (isGit) addGitPlaces(folder, entries, places);
  const next: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const protection = protectionOfName(entry.name) ?? (isDenied(path) ? listed : null);
    if (protection !== null) add(places, path, protection, { isFolder: entry.isDirectory() });
    else if (entry.isDirectory() && entry.name !== 'node_modules' && !(isGit && skippedInGitFolder.has(entry.name))) next.push(path);
  }
  return next;
}

const listed: ProtectedName = { kind: 'secret', reason: 'sandbox.files.deny lists it' };
const runByGit: ProtectedName = { kind: 'code', reason: gitReason };

/** By its form as well as its name: git takes any folder of this form for a repository when it is run in it. */
function isGitFolder(folder: string, entries: readonly Dirent[]): boolean {
  if (basename(folder).toLowerCase() === '.git') return true;
  const names = new Set(entries.map(({ name }) => name.toLowerCase()));
  return names.has('head') && ((names.has('objects') && names.has('refs')) || names.has('commondir'));
}

function addGitPlaces(folder: string, entries: readonly Dirent[], places: Map<string, ProtectedPlace>): void {
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const name = entry.name.toLowerCase();
    const isFolder = entry.isDirectory();
    if (name === 'config' || name === 'config.worktree') add(places, path, runByGit, { isFolder, git: 'config' });
    if (name !== 'hooks') continue;
    add(places, path, runByGit, { isFolder, git: 'hooks' });
    if (isFolder) addHooks(path, places);
  }
}

function addHooks(folder: string, places: Map<string, ProtectedPlace>): void {
  for (const entry of entriesOf(folder) ?? []) {
    // The samples git itself puts there are run by nobody.
    if (entry.isFile() && entry.name.endsWith('.sample')) continue;
    add(places, join(folder, entry.name), runByGit, { isFolder: entry.isDirectory(), git: 'hook' });
  }
}

interface PlaceForm {
  readonly isFolder: boolean;
  readonly git?: ProtectedPlace['git'];
}

function add(places: Map<string, ProtectedPlace>, path: string, named: ProtectedName, { isFolder, git }: PlaceForm): void {
  const stamp = stampOf(path, isFolder);
  if (stamp === null) return;
  places.set(path, {
    path,
    kind: named.kind,
    reason: named.reason,
    isFolder,
    stamp,
    git: git ?? null,
    mayAppear: named.mayAppear === true,
  });
}

/** A folder is the same as long as it is that folder: what is in it is looked at on its own. */
function stampOf(path: string, isFolder: boolean): string | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  return isFolder ? `${stat.dev}:${stat.ino}` : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.mode}`;
}

/** Null for a folder that cannot be listed. */
function entriesOf(folder: string): Dirent[] | null {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Closed by its mode, or gone: who adds it to the list finds out which.
    return null;
  }
}

function giveWay(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
