// What a confined command did to protected places, found by comparing two looks, and undone: new ones are moved out of the way
// into a folder of their own, never deleted. Touches nothing else.

import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { findRunnableSetting } from './git-config-check.ts';
import type { ProtectedPlace, ProtectedScan } from './protected-scan.ts';

export interface ProtectedChange {
  readonly path: string;
  readonly what: 'appeared' | 'changed' | 'is gone';
  readonly reason: string;
}

const CONFIG_BYTES_MAX = 100_000;
const KEPT_FOLDERS_MAX = 50;
const CHANGES_MAX = 200;

/** A part of a place that appeared with it is not named again. */
export function findChanges(before: ProtectedScan, after: ProtectedScan): ProtectedChange[] {
  const changes: ProtectedChange[] = [];
  for (const place of after.places.values()) {
    const earlier = before.places.get(place.path);
    if (earlier === undefined) {
      const reason = harmOf(place);
      if (reason !== null) changes.push({ path: place.path, what: 'appeared', reason });
    } else if (earlier.stamp !== place.stamp) {
      changes.push({ path: place.path, what: 'changed', reason: place.reason });
    }
  }
  for (const { path, reason } of before.places.values()) if (!after.places.has(path)) changes.push({ path, what: 'is gone', reason });
  return changes;
}

/** Why a new one cannot stay, or null: a repository may be made, as long as nothing in it is run. */
function harmOf(place: ProtectedPlace): string | null {
  if (place.mayAppear) return null;
  // A hooks folder is judged by what is in it; anything else of that name leads somewhere.
  if (place.git === 'hooks') return place.isFolder ? null : place.reason;
  if (place.git !== 'config') return place.reason;
  const setting = readConfig(place.path);
  return setting === null ? null : `git may run what its setting ${setting} names`;
}

function readConfig(path: string): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > CONFIG_BYTES_MAX) return '(not a plain file)';
  try {
    return findRunnableSetting(readFileSync(path, 'utf8'));
  } catch {
    return '(not readable)';
  }
}

export interface UndoResult {
  readonly moved: readonly string[];
  /** Stays as the command left it. */
  readonly left: readonly string[];
}

/** Moves what appeared into `folder`, at most 200 entries of one run; the folders of the last 50 runs are kept. */
export function undoAppeared(changes: readonly ProtectedChange[], folder: string): UndoResult {
  const moved: string[] = [];
  const left: string[] = [];
  const appeared = changes.filter(({ what }) => what === 'appeared').map(({ path }) => path);
  for (const [index, path] of appeared.entries()) {
    const isMoved = index < CHANGES_MAX && moveAway(path, join(folder, `${index + 1}-${basename(path)}`));
    (isMoved ? moved : left).push(path);
  }
  if (moved.length > 0) pruneFolders(dirname(folder));
  return { moved, left };
}

function moveAway(path: string, target: string): boolean {
  try {
    // Another command that is still running may have put a link on the way: then this is another place than was looked at.
    if (realpathSync(dirname(path)) !== dirname(path)) return false;
    makeFolders({ mkdirSync, statSync }, dirname(target));
    moveEntry(path, target);
    return true;
  } catch {
    // Said to the person as left behind.
    return false;
  }
}

function moveEntry(path: string, target: string): void {
  try {
    renameSync(path, target);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EXDEV')) throw cause;
    cpSync(path, target, { recursive: true, dereference: false, verbatimSymlinks: true });
    rmSync(path, { recursive: true, force: true });
  }
}

function pruneFolders(folder: string): void {
  // Names begin with the time, so the order of the alphabet is the order of age.
  const names = readdirSync(folder).sort();
  for (const name of names.slice(0, Math.max(0, names.length - KEPT_FOLDERS_MAX))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** One sentence a change, for the person and the model. At most ten. */
export function describeChanges(changes: readonly ProtectedChange[], undone: UndoResult, folder: string): string[] {
  const moved = new Set(undone.moved);
  const sentences = changes.slice(0, 10).map(({ path, what, reason }) => {
    const end = moved.has(path) ? `it was moved to ${folder}` : what === 'appeared' ? 'it could not be moved away' : 'it was not put back';
    return `${path} ${what}, and ${reason}: ${end}`;
  });
  return changes.length > 10 ? [...sentences, `and ${changes.length - 10} more`] : sentences;
}
