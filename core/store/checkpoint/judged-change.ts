// A change of one path with its current state and whether it may be undone, and checks that depend on several changes. Pure.

import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { FileImage } from '../../contracts/checkpoints.ts';
import type { Glance } from './file-look.ts';
import type { PathChange, Verdict } from './restore-plan.ts';

export interface Judged {
  readonly change: PathChange;
  readonly glance: Glance;
  readonly image: FileImage;
  readonly verdict: Verdict;
}

/** Identifies the diff that is shown of a change. Differs as soon as one of its sides differs. */
export function versionOf({ before, after }: PathChange): string {
  return hash('sha256', JSON.stringify([before, after]), 'hex').slice(0, 16);
}

export interface FoldersNow {
  readonly namesIn: (folder: string) => readonly string[];
  /** Returns whether the path is a folder that exists only because undone calls wrote below it. */
  readonly isLeftover: (path: string) => boolean;
}

/** A folder is removed only if everything in it is removed as well, including folders created on the way to files. */
export function withFolders(judged: readonly Judged[], { namesIn, isLeftover }: FoldersNow): Judged[] {
  const removed = new Set(
    judged.filter(({ change, verdict }) => change.before.kind === 'absent' && verdict.kind === 'restore').map(({ change }) => change.path),
  );
  const remainingIn = (folder: string): string | undefined => namesIn(folder).find((name) => !isRemoved(join(folder, name)));
  const isRemoved = (path: string): boolean => removed.has(path) || (isLeftover(path) && remainingIn(path) === undefined);
  return judged.map((item) => {
    if (item.verdict.kind !== 'restore' || item.glance.kind !== 'folder' || item.change.before.kind === 'folder') return item;
    const remaining = remainingIn(item.change.path);
    if (remaining === undefined) return item;
    return { ...item, verdict: { kind: 'refuse', reason: `It is a folder that holds ${remaining}, which was not put there by this.` } };
  });
}
