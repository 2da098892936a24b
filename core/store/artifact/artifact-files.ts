// Content files under artifacts/, named by their SHA-256: ab/cdef…. Owns writing and reading the bytes. Knows nothing of names, sessions or
// rows. A file gets its name only when it is complete and synced.

import * as nodeFs from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { makeFolders } from '../../base/make-folders.ts';
import { renameOver } from '../../base/rename-over.ts';
import { errnoOf } from '../../base/errno.ts';
import { syncFolder } from '../../base/sync-folder.ts';

/** The file system calls used here, as a port: a fault test makes the nth call fail. */
export type FileCalls = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'fstatSync'
  | 'fsyncSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readSync'
  | 'readdirSync'
  | 'renameSync'
  | 'statSync'
  | 'unlinkSync'
  | 'writeSync'
>;

export interface Range {
  readonly offset: number;
  readonly length: number;
}

const FILE_MODE = 0o600;
/** The number of bytes between two syncs while writing, so that no single sync of a large file blocks everything else. */
const SYNC_BYTES = 8_000_000;

export class ArtifactFiles {
  readonly #folder: string;
  readonly #temporary: string;
  readonly #fs: FileCalls;
  #counter = 0;

  constructor(folder: string, fs: FileCalls = nodeFs) {
    this.#folder = folder;
    this.#temporary = join(folder, 'tmp');
    this.#fs = fs;
  }

  /** Returns when the content is on disk under its name, including the directory entry. */
  write(sha256: string, content: Uint8Array): void {
    const draft = this.openDraft();
    try {
      draft.append(content);
      draft.commit(sha256);
    } catch (cause) {
      draft.discard();
      throw cause;
    }
  }

  /** Opens a temporary file to be filled in pieces. Either `commit` or `discard` must follow. */
  openDraft(): ArtifactDraft {
    makeFolders(this.#fs, this.#temporary);
    this.#counter += 1;
    const path = join(this.#temporary, `${process.pid}-${this.#counter}-${crypto.randomUUID()}`);
    const handle = this.#fs.openSync(path, 'wx', FILE_MODE);
    return new ArtifactDraft(this.#fs, path, handle, (sha256) => this.#place(path, sha256));
  }

  /** Returns the whole file, or the part of the range that exists. Returns null if there is no file. */
  read(sha256: string, range?: Range): { bytes: Uint8Array; sizeBytes: number } | null {
    const handle = this.#open(sha256);
    if (handle === null) return null;
    try {
      const sizeBytes = this.#fs.fstatSync(handle).size;
      const offset = Math.min(range?.offset ?? 0, sizeBytes);
      const bytes = new Uint8Array(Math.min(range?.length ?? sizeBytes, sizeBytes - offset));
      let filled = 0;
      while (filled < bytes.length) {
        const count = this.#fs.readSync(handle, bytes, filled, bytes.length - filled, offset + filled);
        if (count === 0) break;
        filled += count;
      }
      return { bytes: bytes.subarray(0, filled), sizeBytes };
    } finally {
      this.#fs.closeSync(handle);
    }
  }

  remove(sha256: string): void {
    this.#unlinkIfThere(this.#pathOf(sha256));
  }

  /** Lists the content files in no particular order. */
  *stored(): Generator<{ sha256: string; changedAtMs: number }> {
    for (const prefix of this.#names(this.#folder)) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
      for (const rest of this.#names(join(this.#folder, prefix))) {
        const stat = /^[0-9a-f]{62}$/.test(rest) ? this.#statIfThere(join(this.#folder, prefix, rest)) : null;
        if (stat !== null) yield { sha256: prefix + rest, changedAtMs: stat.mtimeMs };
      }
    }
  }

  /** Removes files left behind by interrupted writes. Returns the number of removed files. */
  removeTemporary(changedBeforeMs: number): number {
    let removed = 0;
    for (const name of this.#names(this.#temporary)) {
      const path = join(this.#temporary, name);
      const stat = this.#statIfThere(path);
      if (stat === null || stat.mtimeMs >= changedBeforeMs) continue;
      this.#unlinkIfThere(path);
      removed += 1;
    }
    return removed;
  }

  #place(path: string, sha256: string): void {
    const folder = join(this.#folder, sha256.slice(0, 2));
    const isNewFolder = makeFolders(this.#fs, folder) !== null;
    renameOver(this.#fs, path, this.#pathOf(sha256));
    syncFolder(this.#fs, folder);
    if (isNewFolder) syncFolder(this.#fs, this.#folder);
  }

  #pathOf(sha256: string): string {
    return join(this.#folder, sha256.slice(0, 2), sha256.slice(2));
  }

  #open(sha256: string): number | null {
    try {
      return this.#fs.openSync(this.#pathOf(sha256), 'r');
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return null;
      throw cause;
    }
  }

  #names(folder: string): readonly string[] {
    try {
      return this.#fs.readdirSync(folder);
    } catch (cause) {
      if (errnoOf(cause) === 'ENOENT') return [];
      throw cause;
    }
  }

  #statIfThere(path: string): nodeFs.Stats | null {
    return this.#fs.statSync(path, { throwIfNoEntry: false }) ?? null;
  }

  #unlinkIfThere(path: string): void {
    try {
      this.#fs.unlinkSync(path);
    } catch (cause) {
      if (errnoOf(cause) !== 'ENOENT') throw cause;
    }
  }
}

/** Content being written. Invisible until committed. */
export class ArtifactDraft {
  readonly #fs: FileCalls;
  readonly #path: string;
  readonly #place: (sha256: string) => void;
  #handle: number | null;
  #unsyncedBytes = 0;

  constructor(fs: FileCalls, path: string, handle: number, place: (sha256: string) => void) {
    this.#fs = fs;
    this.#path = path;
    this.#handle = handle;
    this.#place = place;
  }

  append(bytes: Uint8Array): void {
    const handle = this.#handle;
    assert(handle !== null, 'a closed draft takes no more content');
    let written = 0;
    while (written < bytes.length) written += this.#fs.writeSync(handle, bytes, written, bytes.length - written);
    this.#unsyncedBytes += bytes.length;
    if (this.#unsyncedBytes < SYNC_BYTES) return;
    this.#fs.fsyncSync(handle);
    this.#unsyncedBytes = 0;
  }

  commit(sha256: string): void {
    if (this.#handle !== null) this.#fs.fsyncSync(this.#handle);
    this.#close();
    this.#place(sha256);
  }

  /** Safe at any time. Garbage collection later removes files that cannot be removed now. */
  discard(): void {
    try {
      this.#close();
      this.#fs.unlinkSync(this.#path);
    } catch (cause) {
      // Report the original failure instead. Nothing refers to a file left in tmp/.
      void cause;
    }
  }

  #close(): void {
    if (this.#handle === null) return;
    const handle = this.#handle;
    this.#handle = null;
    this.#fs.closeSync(handle);
  }
}
