// Restores images: prepares everything that can fail next to the files first, then moves it into place. Does not decide what may be
// restored; the caller has checked it.

import { createHash, hash } from 'node:crypto';
import { constants } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { errnoOf, ignoreUnsupported } from '../../base/errno.ts';
import { renameOver } from '../../base/rename-over.ts';
import { syncFolder } from '../../base/sync-folder.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FileImage, RefusedFile } from '../../contracts/checkpoints.ts';
import type { ImageStore } from './before-images.ts';
import { fileFailure, whyItFailed, type FileCalls } from './file-calls.ts';
import { type FileLook, type Glance } from './file-look.ts';

export interface RestoreWork {
  readonly path: string;
  readonly before: FileImage;
  readonly now: Glance;
}

export interface RestoreFilesParts {
  readonly fs: FileCalls;
  readonly look: FileLook;
  readonly store: ImageStore;
  /** Checked until the first file is replaced. If true, the restore fails with `panic_engaged`. */
  isStopped(): boolean;
  /** Returns whether a folder exists only because undone calls wrote below it. Such a folder is removed once it is empty. */
  isLeftover(folder: string): boolean;
}

const PIECE_BYTES = 1_000_000;
const SYNC_BYTES = 8_000_000;

export class RestoreFiles {
  readonly #parts: RestoreFilesParts;
  /** Used in the names of temporary files, so that leftovers of a crash are replaced when the same undo is retried. */
  readonly #name: string;
  readonly #staged = new Map<string, string>();
  readonly #madeFolders: string[] = [];

  constructor(parts: RestoreFilesParts, name: string) {
    this.#parts = parts;
    this.#name = name;
  }

  /**
   * Throws only if nothing is changed yet (`store_full`, `tool_failed`, `panic_engaged`, or a `store_*` error of the copy). Files that
   * cannot be moved into place after that are returned, and the others continue. `gone` are paths that no longer exist, for `tidy`.
   */
  async run(work: readonly RestoreWork[], gone: readonly string[]): Promise<RefusedFile[]> {
    try {
      this.#makeFolders(work);
      for (const item of work) if (item.before.kind === 'file') await this.#stage(item, item.before);
      this.#assertRunning();
    } catch (cause) {
      this.#discard();
      throw cause;
    }
    return this.#commit(work, gone);
  }

  #commit(work: readonly RestoreWork[], gone: readonly string[]): RefusedFile[] {
    const failed: RefusedFile[] = [];
    const attempt = (path: string, act: () => void): void => {
      try {
        act();
      } catch (cause) {
        failed.push({ path, reason: `It could not be put back, because ${whyItFailed(cause)}.` });
      }
    };
    const deepestFirst = work.toSorted((a, b) => b.path.length - a.path.length);
    const removals = deepestFirst.filter(({ before }) => before.kind === 'absent');
    for (const item of removals) if (item.now.kind !== 'folder') attempt(item.path, () => this.#remove(item));
    for (const { path, now } of removals) if (now.kind === 'folder') attempt(path, () => this.#removeFolder(path, gone));
    for (const item of work) if (item.before.kind === 'file' || item.before.kind === 'link') attempt(item.path, () => this.#place(item));
    for (const item of deepestFirst) attempt(item.path, () => this.#setFolderMode(item));
    this.tidy(gone);
    this.#madeFolders.length = 0;
    this.#discard();
    this.#syncFolders(work);
    return failed;
  }

  /** Creates the folders to restore, and missing parent folders of restored files, outermost first. */
  #makeFolders(work: readonly RestoreWork[]): void {
    const needed = work.flatMap(({ path, before }) =>
      before.kind === 'folder' ? [path] : before.kind === 'absent' ? [] : [dirname(path)],
    );
    for (const folder of [...new Set(needed)].sort((a, b) => a.length - b.length)) {
      try {
        this.#makeFolder(folder);
      } catch (cause) {
        throw fileFailure(cause, `make the folder ${folder} again`);
      }
    }
  }

  #makeFolder(folder: string): void {
    const { fs, look } = this.#parts;
    const missing: string[] = [];
    for (let above = folder; look.glance(above).kind === 'absent'; above = dirname(above)) missing.push(above);
    for (const path of missing.reverse()) {
      fs.mkdirSync(path);
      this.#madeFolders.push(path);
    }
    const real = look.leadsElsewhere(join(folder, 'x'));
    if (real !== null) throw new AppError('tool_failed', `The folder ${folder} leads elsewhere now, to ${dirname(real)}.`);
  }

  async #stage({ path, now }: RestoreWork, image: Extract<FileImage, { kind: 'file' }>): Promise<void> {
    const { fs, look } = this.#parts;
    const temporary = this.#temporaryFor(path);
    try {
      this.#unlinkIfThere(temporary);
      const handle = look.openPlain(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
      this.#staged.set(path, temporary);
      try {
        await this.#fill(handle, image);
        const { owner } = now;
        if (owner !== null) whereSupported(() => fs.fchownSync(handle, owner.uid, owner.gid));
        whereSupported(() => fs.fchmodSync(handle, image.mode));
        fs.fsyncSync(handle);
      } finally {
        fs.closeSync(handle);
      }
    } catch (cause) {
      throw fileFailure(cause, `put ${path} back`);
    }
  }

  async #fill(handle: number, image: { readonly sha256: string; readonly sizeBytes: number }): Promise<void> {
    const { fs, store } = this.#parts;
    const digest = createHash('sha256');
    for (let offset = 0, unsynced = 0; offset < image.sizeBytes;) {
      this.#assertRunning();
      const piece = store.read(image.sha256, { offset, length: PIECE_BYTES });
      if (piece.length === 0) break;
      digest.update(piece);
      for (let written = 0; written < piece.length;) written += fs.writeSync(handle, piece, written, piece.length - written);
      offset += piece.length;
      unsynced += piece.length;
      if (offset >= image.sizeBytes) break;
      if (unsynced >= SYNC_BYTES) {
        fs.fsyncSync(handle);
        unsynced = 0;
      }
      await giveWay();
    }
    if (digest.digest('hex') !== image.sha256) throw new AppError('store_corrupt', 'The copy that was kept is damaged.');
  }

  #remove(item: RestoreWork): void {
    this.#assertUntouched(item);
    this.#parts.fs.unlinkSync(item.path);
  }

  #place(item: RestoreWork): void {
    const { fs } = this.#parts;
    this.#assertUntouched(item);
    if (item.now.kind === 'folder') fs.rmdirSync(item.path);
    if (item.before.kind === 'link') {
      const temporary = this.#temporaryFor(item.path);
      this.#unlinkIfThere(temporary);
      fs.symlinkSync(item.before.target, temporary);
      this.#staged.set(item.path, temporary);
    }
    const temporary = this.#staged.get(item.path);
    if (temporary === undefined) return;
    renameOver(fs, temporary, item.path);
    this.#staged.delete(item.path);
  }

  /** Set last, so that a read-only folder can be filled first. */
  #setFolderMode({ path, before }: RestoreWork): void {
    if (before.kind === 'folder') this.#parts.fs.chmodSync(path, before.mode);
  }

  /** Removes the parent folders that a call created for these paths, once they are empty. */
  tidy(paths: readonly string[]): void {
    for (const path of paths) this.#removeEmptyAbove(path);
  }

  #removeEmptyAbove(path: string, upTo?: string): void {
    for (let folder = dirname(path); folder !== upTo && this.#parts.isLeftover(folder); folder = dirname(folder)) {
      try {
        this.#removeIfThere(folder);
      } catch {
        // The folder is in use and stays.
        return;
      }
    }
  }

  /** Removes a folder and the empty folders in it that were created on the way to files of the call. */
  #removeFolder(folder: string, gone: readonly string[]): void {
    for (const path of gone) if (path.startsWith(folder + sep)) this.#removeEmptyAbove(path, folder);
    this.#removeIfThere(folder);
  }

  #removeIfThere(folder: string): void {
    try {
      this.#parts.fs.rmdirSync(folder);
    } catch (cause) {
      if (errnoOf(cause) !== 'ENOENT') throw cause;
    }
  }

  /** Throws if the file has changed since the check. */
  #assertUntouched({ path, now }: RestoreWork): void {
    const { look } = this.#parts;
    if (look.glance(path).stamp !== now.stamp && now.kind !== 'folder') throw new AppError('conflict', 'it was changed just now');
    if (look.leadsElsewhere(path) !== null) throw new AppError('conflict', 'a folder above it leads elsewhere now');
  }

  #assertRunning(): void {
    if (this.#parts.isStopped()) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop; nothing was put back.');
  }

  #syncFolders(work: readonly RestoreWork[]): void {
    for (const folder of new Set(work.map(({ path }) => dirname(path)))) {
      try {
        syncFolder(this.#parts.fs, folder);
      } catch (cause) {
        // The folder was removed together with its content. Any other failure only makes names less durable, not file contents.
        void cause;
      }
    }
  }

  /** Removes prepared files that were not used. */
  #discard(): void {
    for (const temporary of this.#staged.values()) {
      try {
        this.#unlinkIfThere(temporary);
      } catch (cause) {
        // Report the original failure instead. The next attempt of the same undo removes the file.
        void cause;
      }
    }
    this.#staged.clear();
    for (const folder of this.#madeFolders.splice(0).reverse()) {
      try {
        this.#parts.fs.rmdirSync(folder);
      } catch (cause) {
        // The folder is already in use, so it is needed.
        void cause;
      }
    }
  }

  #unlinkIfThere(path: string): void {
    try {
      this.#parts.fs.unlinkSync(path);
    } catch (cause) {
      if (errnoOf(cause) !== 'ENOENT') throw cause;
    }
  }

  #temporaryFor(path: string): string {
    const short = hash('sha256', basename(path), 'hex').slice(0, 12);
    return join(dirname(path), `.trayclaw-undo-${this.#name}-${short}.tmp`);
  }
}

function whereSupported(step: () => void): void {
  try {
    step();
  } catch (cause) {
    ignoreUnsupported(cause);
  }
}
