// Finds the files below some folders that changed since a moment: a bounded walk over names and times, through no links. A folder it cannot
// check completely counts as a whole. Reads no contents and writes nothing.

import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface ChangeQuery {
  /** Real paths, none inside another. */
  readonly folders: readonly string[];
  readonly sinceMs: number;
  /** A file left its place: a folder that changed may be where it went, under a time of before. */
  readonly moved: boolean;
  readonly entriesMax?: number;
}

interface Pending {
  readonly path: string;
  readonly root: string;
  /** Everything in it counts. */
  readonly whole: boolean;
}

interface Entry {
  readonly path: string;
  readonly stats: Stats;
}

const ENTRIES_MAX = 10_000;
/** Beyond this number, files are listed by their folders. */
const NAMED_MAX = 200;
/** Times of files lag behind the clock by a tick of the system. */
const LAG_MS = 50;

/** Files, and folders of which everything counts: those end with a separator. What git keeps in its own form is left out. */
export async function changedSince({ folders, sinceMs, moved, entriesMax = ENTRIES_MAX }: ChangeQuery): Promise<string[]> {
  const isNew = ({ ctimeMs }: Stats): boolean => ctimeMs >= sinceMs - LAG_MS;
  const changed = new Map<string, string>();
  const queue: Pending[] = folders.map((path) => ({ path, root: path, whole: false }));
  const take = ({ root, whole }: Pending, { path, stats }: Entry): void => {
    const counts = whole || isNew(stats);
    if (stats.isDirectory()) queue.push({ path, root, whole: whole || (moved && counts) });
    else if (stats.isFile() && counts) changed.set(path, root);
  };
  let room = entriesMax;
  for (const [at, folder] of queue.entries()) {
    const names = await namesIn(folder.path);
    room -= names?.length ?? 0;
    // Nearest first: the rest is deep, and there is too much of it to check.
    if (room < 0) {
      for (const left of queue.slice(at)) changed.set(topOf(left.path, left.root, true), left.root);
      break;
    }
    if (names === null && folder.whole) changed.set(folder.path + sep, folder.root);
    for (const entry of await statsOf(folder.path, names ?? [])) take(folder, entry);
  }
  return shorten([...changed]);
}

/** Null if the folder cannot be read. */
function namesIn(folder: string): Promise<string[] | null> {
  return readdir(folder).then(
    (names) => names.filter((name) => name !== '.git'),
    () => null,
  );
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

/** The folder directly below the root that contains it; a file directly below the root is its own. */
function topOf(path: string, root: string, isFolder: boolean): string {
  const [first = '', ...rest] = relative(root, path).split(sep);
  if (first === '') return root + sep;
  return join(root, first) + (rest.length > 0 || isFolder ? sep : '');
}
