// Finds a confined command's changes to protected places by comparing two scans, and undoes them: new entries are moved into a separate
// folder, never deleted. Touches nothing else.

import { cpSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolders } from '../../base/make-folders.ts';
import { renameOver } from '../../base/rename-over.ts';
import { harmOfConfig, harmOfPointer } from './git-scan.ts';
import type { ProtectedPlace, ProtectedScan } from './protected-scan.ts';

export interface ProtectedChange {
  readonly path: string;
  readonly what: 'appeared' | 'changed' | 'is gone';
  readonly reason: string;
  /** The former target of a symbolic link, which can be restored. */
  readonly link: string | null;
}

const KEPT_FOLDERS_MAX = 50;
const CHANGES_MAX = 200;

/** `writable` are the scanned folders. Parts of a place that appeared together with it are not listed separately. */
export function findChanges(before: ProtectedScan, after: ProtectedScan, writable: readonly string[]): ProtectedChange[] {
  const changes: ProtectedChange[] = [];
  for (const place of after.places.values()) {
    const earlier = before.places.get(place.path);
    if (earlier === undefined) {
      const reason = harmOf(place, writable);
      if (reason !== null) changes.push({ path: place.path, what: 'appeared', reason, link: null });
    } else if (earlier.stamp !== place.stamp) {
      changes.push({ path: place.path, what: 'changed', reason: place.reason, link: earlier.link });
    }
  }
  for (const { path, reason, link } of before.places.values()) {
    if (!after.places.has(path)) changes.push({ path, what: 'is gone', reason, link });
  }
  return changes;
}

/** Returns why a new entry must be removed, or null. A repository may be created, as long as nothing in it is run. */
function harmOf(place: ProtectedPlace, writable: readonly string[]): string | null {
  if (place.mayAppear) return null;
  switch (place.git) {
    case 'config':
      return harmOfConfig(place.path, writable);
    case 'pointer':
      return harmOfPointer(place.path, writable);
    case 'hooks':
      // A hooks folder is judged by its content. Any other entry of that name is a pointer.
      return place.isFolder ? null : place.reason;
    case 'hook':
    case 'named':
    case null:
      return place.reason;
  }
}

export interface UndoResult {
  readonly moved: readonly string[];
  /** Entries that stay as the command left them. */
  readonly left: readonly string[];
}

/** Moves new entries, and entries that replaced a link, into `folder`: at most 200 per run. Folders of the last 50 runs are kept. */
export function undoAppeared(changes: readonly ProtectedChange[], folder: string): UndoResult {
  const moved: string[] = [];
  const left: string[] = [];
  const undoable = changes.filter(({ what, link }) => what === 'appeared' || link !== null);
  for (const [index, { path, what, link }] of undoable.entries()) {
    const isAway = what === 'is gone' || (index < CHANGES_MAX && moveAway(path, join(folder, `${index + 1}-${basename(path)}`)));
    (isAway && (link === null || putBack(path, link)) ? moved : left).push(path);
  }
  if (moved.length > 0) pruneFolders(dirname(folder));
  return { moved, left };
}

function putBack(path: string, link: string): boolean {
  try {
    symlinkSync(link, path);
    return true;
  } catch {
    // Reported to the person as not restored.
    return false;
  }
}

function moveAway(path: string, target: string): boolean {
  try {
    // Another running command may have put a link into the path, which then leads to another place than the scanned one.
    if (realpathSync(dirname(path)) !== dirname(path)) return false;
    makeFolders({ mkdirSync, statSync }, dirname(target));
    moveEntry(path, target);
    return true;
  } catch {
    // Reported to the person as left behind.
    return false;
  }
}

function moveEntry(path: string, target: string): void {
  try {
    renameOver({ renameSync }, path, target);
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EXDEV')) throw cause;
    cpSync(path, target, { recursive: true, dereference: false, verbatimSymlinks: true });
    rmSync(path, { recursive: true, force: true });
  }
}

function pruneFolders(folder: string): void {
  // Names begin with the time, so alphabetical order is the order of age.
  const names = readdirSync(folder).sort();
  for (const name of names.slice(0, Math.max(0, names.length - KEPT_FOLDERS_MAX))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Describes the changes for the person and the model, one sentence each. At most ten. */
export function describeChanges(changes: readonly ProtectedChange[], undone: UndoResult, folder: string): string[] {
  const moved = new Set(undone.moved);
  const sentences = changes.slice(0, 10).map(({ path, what, reason, link }) => {
    const end = moved.has(path)
      ? link === null
        ? `it was moved to ${folder}`
        : 'the link that was there is back'
      : what === 'appeared'
        ? 'it could not be moved away'
        : 'it was not put back';
    return `${path} ${what}, and ${reason}: ${end}`;
  });
  return changes.length > 10 ? [...sentences, `and ${changes.length - 10} more`] : sentences;
}
