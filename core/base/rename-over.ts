// Replaces a file with a finished one. The only module that does so: Windows refuses while a virus scanner, an editor or a backup briefly
// holds one of the two files, so renames are retried there only. Calls the file system only through its
// parameters.

import { dirname } from 'node:path';
import { makeFolders, type FolderCalls } from './make-folders.ts';
import { syncFolder, type SyncCalls } from './sync-folder.ts';
import { sleep } from './waits.ts';

/** The part of `node:fs` used here. */
export interface RenameCall {
  renameSync(from: string, to: string): void;
}

/** The part of `node:fs/promises` used here. */
export interface LaterRenameCall {
  rename(from: string, to: string): Promise<void>;
}

/** A third of a second in total: scanners finish sooner, and a file that is held for longer is held on purpose. */
const PAUSES_MS = [10, 20, 40, 80, 160] as const;
const passing: ReadonlySet<unknown> = new Set(['EPERM', 'EACCES', 'EBUSY']);

export interface RenameTries {
  readonly isWindows: boolean;
  /** Blocks for the given time. */
  readonly pause: (ms: number) => void;
}

const ownTries: RenameTries = {
  isWindows: process.platform === 'win32',
  pause: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};

/** Fails with the error of the file system. */
export function renameOver(fs: RenameCall, from: string, to: string, tries = ownTries): void {
  for (const ms of PAUSES_MS) {
    try {
      fs.renameSync(from, to);
      return;
    } catch (cause) {
      if (!mayPass(cause, tries.isWindows)) throw cause;
    }
    tries.pause(ms);
  }
  fs.renameSync(from, to);
}

/** The same without blocking other work. */
export async function renameOverLater(fs: LaterRenameCall, from: string, to: string, isWindows = ownTries.isWindows): Promise<void> {
  for (const ms of PAUSES_MS) {
    try {
      await fs.rename(from, to);
      return;
    } catch (cause) {
      if (!mayPass(cause, isWindows)) throw cause;
    }
    await sleep(ms);
  }
  await fs.rename(from, to);
}

/** The part of `node:fs` used here. */
export interface ReplaceCalls extends FolderCalls, RenameCall, SyncCalls {
  writeFileSync(
    path: string,
    content: string | Uint8Array,
    how: { readonly mode: number; readonly flag: 'wx'; readonly flush: true },
  ): void;
  rmSync(path: string, how: { readonly force: true }): void;
}

/**
 * Writes the content to a new file in the same folder, which then replaces the old one: after a crash, one of the two exists in full.
 * Creates missing folders. Fails with the error of the file system, and leaves no new file then.
 */
export function replaceFile(fs: ReplaceCalls, path: string, content: string | Uint8Array, mode = 0o600): void {
  const fresh = `${path}.${process.pid}.part`;
  try {
    makeFolders(fs, dirname(path));
    fs.rmSync(fresh, { force: true });
    fs.writeFileSync(fresh, content, { mode, flag: 'wx', flush: true });
    renameOver(fs, fresh, path);
    syncFolder(fs, dirname(path));
  } catch (cause) {
    fs.rmSync(fresh, { force: true });
    throw cause;
  }
}

function mayPass(cause: unknown, isWindows: boolean): boolean {
  return isWindows && passing.has((cause as NodeJS.ErrnoException).code);
}
