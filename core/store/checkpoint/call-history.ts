// The calls that have not been undone: which of them block an undo, which folders were created only on the way to a file, and which of
// those folders are no longer needed. Changes nothing.

import { dirname } from 'node:path';
import type { BeforeFile, FileImage } from '../../contracts/checkpoints.ts';
import type { Checkpoint, CheckpointRows } from './checkpoint-rows.ts';
import { changeOf } from './file-diff.ts';
import type { FileLook } from './file-look.ts';
import type { Judged } from './judged-change.ts';
import { composeChanges, sameImage, type PathChange } from './restore-plan.ts';

export class CallHistory {
  readonly #rows: CheckpointRows;
  readonly #look: FileLook;

  constructor(rows: CheckpointRows, look: FileLook) {
    this.#rows = rows;
    this.#look = look;
  }

  /**
   * Returns why a later call must be undone first, or null. A later call blocks an undo if it left the path in its current state, or if it
   * removed or created a parent folder that is not now in the state the call found. If the later calls left the path as they found it, they
   * block only the undo of a single call: their own undo would have nothing to do, so the undo of a turn would wait forever.
   */
  async heldBy({ path, before, lastSeq, lastSeqs }: PathChange, now: FileImage, isOfCall: boolean): Promise<string | null> {
    const later = this.#rows.laterCalls(path, lastSeq).filter((one) => changeOf(one.before, one.after) !== 'none');
    const last = later.at(-1);
    const isAsFound = later[0] !== undefined && sameImage(later[0].before, now);
    if (last !== undefined && last.after !== null && sameImage(last.after, now) && (isOfCall || !isAsFound))
      return `It was changed again by ${last.callId}; undo that first.`;
    if (before.kind === 'absent') return null;
    for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
      const [next] = this.#rows.laterCalls(folder, Math.max(lastSeq, lastSeqs.get(folder) ?? 0));
      if (next !== undefined && !sameImage(next.before, await this.#look.image(folder)))
        return `Its folder ${folder} was removed or recreated by ${next.callId}; undo that first.`;
    }
    return null;
  }

  /** Adds the folders that the undo recreates and that were originally created on the way to a file. */
  withMade({ path, before, folders = [] }: BeforeFile, work: readonly Judged[]): BeforeFile {
    const named = new Map(work.filter(({ change }) => change.before.kind === 'folder').map(({ change }) => [change.path, change.firstSeq]));
    const isMade = (folder: string, firstSeq = named.get(folder)): boolean =>
      firstSeq === undefined || this.#rows.wasMade(folder, firstSeq);
    const own = named.has(path) ? [path] : [];
    const made = [...own, ...folders].filter((folder) => isMade(folder));
    return { path, before, ...(made.length === 0 ? {} : { folders: made }) };
  }

  /**
   * Returns a predicate for folders that exist only because undone calls, or these calls, wrote below them. Excludes folders these calls
   * found.
   */
  leftovers(checkpoints: readonly Checkpoint[]): (folder: string) => boolean {
    const undone = this.#rows.undone();
    for (const { callId } of checkpoints) undone.add(callId);
    const stays = new Set(composeChanges(checkpoints).flatMap(({ path, before }) => (before.kind === 'folder' ? [path] : [])));
    return (folder) => !stays.has(folder) && this.#rows.isLeftover(folder, this.#look.glance(folder).identity, undone);
  }
}
