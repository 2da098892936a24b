// Finds the files below some folders that changed since a given time: a bounded walk over names and times that does not follow links. A
// folder that cannot be checked completely counts as a whole. Reads no contents but pointers of git, and writes nothing.

import type { Stats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { pointerTarget } from '../../base/git-places.ts';

export interface ChangeQuery {
  /** Real paths, none inside another. */
  readonly folders: readonly string[];
  readonly sinceMs: number;
  /** True if a file is missing from its place. It may have moved, with its old time, into any folder that changed. */
  readonly moved: boolean;
  readonly entriesMax?: number;
}

interface Pending {
  readonly path: string;
  readonly root: string;
  /** True if everything in the folder counts as changed. */
  readonly whole: boolean;
}

interface Entry {
  readonly path: string;
  readonly stats: Stats;
}

const ENTRIES_MAX = 10_000;
/** Above this number, files are listed by their folders. */
const NAMED_MAX = 200;
/** File times may lag behind the clock by one tick of the system. */
const LAG_MS = 50;

/**
 * Returns the changed files, and folders that count as a whole, which end with a separator. Of a `.git`, only what git fetched counts: its
 * objects are the text of others, and no file of the work tree shows it.
 */
export async function changedSince({ folders, sinceMs, moved, entriesMax = ENTRIES_MAX }: ChangeQuery): Promise<string[]> {
  const isNew = ({ ctimeMs }: Stats): boolean => ctimeMs >= sinceMs - LAG_MS;
  const changed = new Map<string, string>();
  const queue: Pending[] = folders.map((path) => ({ path, root: path, whole: false }));
  const take = ({ root, whole }: Pending, { path, stats }: Entry): void => {
    const counts = whole || isNew(stats);
    if (path.endsWith(`${sep}.git`)) return;
    if (stats.isDirectory()) queue.push({ path, root, whole: whole || (moved && counts) });
    else if (stats.isFile() && counts) changed.set(path, root);
  };
  let room = entriesMax;
  for (const [at, folder] of queue.entries()) {
    const names = await namesIn(folder.path);
    for (const place of await fetchedInto(folder.path, names, isNew))
      changed.set(place, isInside(place, folder.root) ? folder.root : dirname(place));
    room -= names?.length ?? 0;
    // Nearer folders come first. The remaining folders are deep and too many to check, so they count as a whole.
    if (room < 0) {
      for (const left of queue.slice(at)) changed.set(topOf(left.path, left.root, true), left.root);
      break;
    }
    if (names === null && folder.whole) changed.set(folder.path + sep, folder.root);
    for (const entry of await statsOf(folder.path, names ?? [])) take(folder, entry);
  }
  return shorten([...changed]);
}

/** Returns null if the folder cannot be read. */
function namesIn(folder: string): Promise<string[] | null> {
  return readdir(folder).catch(() => null);
}

/**
 * Returns the `.git` of each checkout of a repository as marks if git fetched into it: a fetch lists in FETCH_HEAD what it brought, and a
 * clone brings a pack. All checkouts have the same objects.
 */
async function fetchedInto(folder: string, names: readonly string[] | null, isNew: (stats: Stats) => boolean): Promise<string[]> {
  if (names?.includes('.git') !== true) return [];
  const git = join(folder, '.git');
  const own = await pointedTo(git);
  const signs = own === null ? [] : await statsOf(own, ['FETCH_HEAD', join('objects', 'pack')]);
  if (own === null || !signs.some(({ stats }) => isNew(stats))) return [];
  const common = await pointedTo(join(own, 'commondir')).then((path) => (path?.endsWith('commondir') === false ? path : own));
  const linked = ((await namesIn(join(common, 'worktrees'))) ?? []).slice(0, NAMED_MAX);
  const others = linked.map(async (name) => (await textOf(join(common, 'worktrees', name, 'gitdir'))) ?? '');
  const places = [...(own === git ? [] : [git]), common, ...(await Promise.all(others)).map((text) => join(text.trim()))];
  const marks = places.filter((path) => isAbsolute(path) && path.endsWith(`${sep}.git`));
  return [...new Set(marks.map((path) => (path === common ? path + sep : path)))];
}

/** Returns where a pointer of git leads, the path itself if it is not a file, and null if git would not follow it. */
async function pointedTo(path: string): Promise<string | null> {
  const text = await textOf(path);
  return text === null ? path : pointerTarget(path, text);
}

/** Null for anything but a plain file: reading a pipe would wait for ever. */
async function textOf(path: string): Promise<string | null> {
  const isPlain = (await lstat(path).catch(() => null))?.isFile() === true;
  return isPlain ? readFile(path, 'utf8').catch(() => null) : null;
}

async function statsOf(folder: string, names: readonly string[]): Promise<Entry[]> {
  const entries = names.map(async (name) => {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => null);
    return stats === null ? null : { path, stats };
  });
  return (await Promise.all(entries)).filter((entry) => entry !== null);
}

function shorten(changed: readonly (readonly [path: string, root: string])[]): string[] {
  if (changed.length <= NAMED_MAX) return changed.map(([path]) => path);
  const tops = [...new Set(changed.map(([path, root]) => topOf(path, root, path.endsWith(sep))))];
  return tops.length <= NAMED_MAX ? tops : [...new Set(changed.map(([, root]) => root + sep))];
}

/** Returns the folder directly below the root that contains the path. A file directly below the root is returned itself. */
function topOf(path: string, root: string, isFolder: boolean): string {
  const [first = '', ...rest] = relative(root, path).split(sep);
  if (first === '') return root + sep;
  return join(root, first) + (rest.length > 0 || isFolder ? sep : '');
}
