// Reads the state of a path without following a link at its end, and regular files in bounded pieces. Changes nothing.

import { createHash, hash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { errnoOf } from '../../base/errno.ts';
import { AppError } from '../../contracts/errors.ts';
import type { FileImage } from '../../contracts/checkpoints.ts';
import type { FileCalls } from './file-calls.ts';

// Windows has neither flag. Creating links requires a privilege there.
const NO_FOLLOW: number = constants.O_NOFOLLOW ?? 0;
const NON_BLOCK: number = constants.O_NONBLOCK ?? 0;
const PIECE_BYTES = 1_000_000;
const MODE_BITS = 0o7777;

export interface Glance {
  readonly kind: 'absent' | 'file' | 'link' | 'folder' | 'other';
  readonly sizeBytes: number;
  readonly mode: number;
  readonly links: number;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** Identifies the entry itself, independent of its content. */
  readonly identity: string;
  /** Differs as soon as anything about the file changed. */
  readonly stamp: string;
}

const nothing: Glance = { kind: 'absent', sizeBytes: 0, mode: 0, links: 0, owner: null, identity: '', stamp: '' };

/** Represents a path that could not be read. */
export const notSeen: Glance = { ...nothing, kind: 'other' };

export class FileLook {
  readonly #fs: FileCalls;

  constructor(fs: FileCalls) {
    this.#fs = fs;
  }

  /** Returns the state from the directory entry alone. Throws the system's error if the entry cannot be read. */
  glance(path: string): Glance {
    try {
      return describe(this.#fs.lstatSync(path));
    } catch (cause) {
      const code = errnoOf(cause);
      if (code === 'ENOENT' || code === 'ENOTDIR') return nothing;
      throw cause;
    }
  }

  linkTarget(path: string): string {
    return this.#fs.readlinkSync(path);
  }

  /** Returns the names in a folder, sorted. */
  names(folder: string): string[] {
    return this.#fs.readdirSync(folder).sort();
  }

  /** Returns the whole content of a small file. */
  read(path: string): Uint8Array {
    const handle = this.openPlain(path);
    try {
      const bytes = new Uint8Array(this.#fs.fstatSync(handle).size);
      let filled = 0;
      while (filled < bytes.length) {
        const count = this.#fs.readSync(handle, bytes, filled, bytes.length - filled, filled);
        if (count === 0) break;
        filled += count;
      }
      return bytes.subarray(0, filled);
    } finally {
      this.#fs.closeSync(handle);
    }
  }

  /** Reads a file in pieces and lets other work run in between. */
  async *pieces(path: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const handle = this.openPlain(path);
    try {
      for (let offset = 0; ;) {
        if (signal?.aborted === true) throw new AppError('cancelled', 'It was stopped.');
        const piece = new Uint8Array(PIECE_BYTES);
        const count = this.#fs.readSync(handle, piece, 0, piece.length, offset);
        if (count === 0) return;
        offset += count;
        yield piece.subarray(0, count);
        await giveWay();
      }
    } finally {
      this.#fs.closeSync(handle);
    }
  }

  /** Returns the state as an image. The content is hashed but not stored. */
  async image(path: string, signal?: AbortSignal): Promise<FileImage> {
    const glance = this.glance(path);
    if (glance.kind !== 'file' || glance.sizeBytes <= PIECE_BYTES) return this.imageNow(path, glance);
    const digest = createHash('sha256');
    let sizeBytes = 0;
    for await (const piece of this.pieces(path, signal)) {
      digest.update(piece);
      sizeBytes += piece.length;
    }
    return { kind: 'file', sha256: digest.digest('hex'), sizeBytes, mode: glance.mode };
  }

  /** Synchronous `image`, for small files. */
  imageNow(path: string, glance: Glance): FileImage {
    if (glance.kind !== 'file') return this.imageWithoutContent(path, glance);
    const bytes = this.read(path);
    return { kind: 'file', sha256: hash('sha256', bytes, 'hex'), sizeBytes: bytes.length, mode: glance.mode };
  }

  /** Returns the image of anything that is not a file. */
  imageWithoutContent(path: string, glance: Glance): FileImage {
    switch (glance.kind) {
      case 'absent':
        return { kind: 'absent' };
      case 'link':
        return { kind: 'link', target: this.linkTarget(path) };
      case 'folder':
        return { kind: 'folder', mode: glance.mode };
      case 'file':
      case 'other':
        return { kind: 'unknown', reason: 'it is a pipe, a socket or a device' };
    }
  }

  /** Returns the real path if a parent folder is a link, otherwise null. Missing parts of the path are compared by their names. */
  leadsElsewhere(path: string): string | null {
    const missing: string[] = [basename(path)];
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      try {
        const real = join(this.#fs.realpathSync(folder), ...missing);
        return real === path || (process.platform !== 'linux' && real.toLowerCase() === path.toLowerCase()) ? null : real;
      } catch (cause) {
        if (errnoOf(cause) !== 'ENOENT' || dirname(folder) === folder) throw cause;
        missing.unshift(basename(folder));
      }
    }
  }

  /** Returns the paths that are links themselves. A path that cannot be looked at is none. */
  linksAmong(paths: readonly string[]): string[] {
    return paths.flatMap((path) => {
      try {
        const own = this.leadsElsewhere(path) ?? path;
        return this.glance(own).kind === 'link' ? [own] : [];
      } catch {
        return [];
      }
    });
  }

  /** Opens a regular file, not a link. Fails if another file was opened because a parent folder was replaced. */
  openPlain(path: string, flags: number = constants.O_RDONLY, mode = 0o600): number {
    const handle = this.#fs.openSync(path, flags | NO_FOLLOW | NON_BLOCK, mode);
    try {
      if (!this.#fs.fstatSync(handle).isFile()) throw new AppError('tool_failed', `${path} is not a plain file.`);
      const found = process.platform === 'linux' ? this.#fs.readlinkSync(`/proc/self/fd/${handle}`) : (this.leadsElsewhere(path) ?? path);
      if (found !== path) throw new AppError('tool_failed', `A folder above ${path} was replaced meanwhile; it leads to ${found}.`);
      return handle;
    } catch (cause) {
      this.#fs.closeSync(handle);
      throw cause;
    }
  }
}

function describe(stat: Stats): Glance {
  const kind = stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : 'other';
  return {
    kind,
    sizeBytes: stat.size,
    mode: stat.mode & MODE_BITS,
    links: stat.nlink,
    owner: { uid: stat.uid, gid: stat.gid },
    identity: [stat.dev, stat.ino, stat.birthtimeMs].join(':'),
    stamp: [stat.dev, stat.ino, stat.mode, stat.size, stat.mtimeMs, stat.ctimeMs].join(':'),
  };
}
