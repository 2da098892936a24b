// What the calls that were not taken back say about folders: which one a file was in, which were only made on the way to a file, and which
// of those are of no use any more. Changes nothing.

import { dirname } from 'node:path';
import type { BeforeFile } from '../../contracts/checkpoints.ts';
import type { Checkpoint, CheckpointRows } from './checkpoint-rows.ts';
import type { FileLook } from './file-look.ts';
import type { Judged } from './judged-change.ts';
import { sameImage, type Circumstances, type PathChange } from './restore-plan.ts';

export class FolderHistory {
  readonly #rows: CheckpointRows;
  readonly #look: FileLook;

  constructor(rows: CheckpointRows, look: FileLook) {
    this.#rows = rows;
    this.#look = look;
  }

  /** The later call that removed or made a folder above a path, if what it found there is not what is there now. */
  async replacedAbove({ path, lastSeq, lastSeqs }: PathChange): Promise<Circumstances['otherFolder']> {
    for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
      const next = this.#rows.nextWrite(folder, Math.max(lastSeq, lastSeqs.get(folder) ?? 0));
      if (next?.before != null && !sameImage(next.before, await this.#look.image(folder))) return { folder, callId: next.callId };
    }
    return null;
  }

  /** Folders that are put back are again what they were: made on the way to a file, or by their own name. */
  withMade({ path, before, folders = [] }: BeforeFile, work: readonly Judged[]): BeforeFile {
    const named = new Map(work.filter(({ change }) => change.before.kind === 'folder').map(({ change }) => [change.path, change.firstSeq]));
    const isMade = (folder: string, firstSeq = named.get(folder)): boolean =>
      firstSeq === undefined || this.#rows.wasMade(folder, firstSeq);
    const own = before.kind === 'absent' && named.has(path) ? [path] : [];
    const made = [...own, ...folders].filter((folder) => isMade(folder));
    return { path, before, ...(made.length === 0 ? {} : { folders: made }) };
  }

  /** Tells the folders that came to be because calls wrote below them that are taken back, or are among these. */
  leftovers(checkpoints: readonly Checkpoint[]): (folder: string) => boolean {
    const undone = this.#rows.undone();
    for (const { callId } of checkpoints) undone.add(callId);
    return (folder) => this.#rows.isLeftover(folder, this.#look.glance(folder).identity, undone);
  }
}
