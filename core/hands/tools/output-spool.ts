// Stores the output of a command with bounded memory: small output in memory, large output in an unnamed file, and always the newest piece,
// so that head, tail and any stored part can be read. Does not interpret the output.

import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { errnoOf } from '../../base/errno.ts';

export interface OutputSpoolOptions {
  /** The folder of the file, which is created only if the output does not fit in memory. */
  readonly folder: string;
  readonly memoryBytesMax: number;
  readonly fileBytesMax: number;
}

export interface SpoolPart {
  readonly bytes: Buffer;
  /** The actual start of the part: later than requested if the output in between was not kept. */
  readonly offset: number;
}

export class OutputSpool {
  readonly #options: OutputSpoolOptions;
  /** The newest bytes; all of them while there is no file. */
  #recent: Buffer[] = [];
  #recentBytes = 0;
  #total = 0;
  #file: SpoolFile | null = null;
  #fileBytes = 0;
  #isClosed = false;

  constructor(options: OutputSpoolOptions) {
    this.#options = options;
  }

  get totalBytes(): number {
    return this.#total;
  }

  append(chunk: Buffer): void {
    if (chunk.length === 0 || this.#isClosed) return;
    this.#total += chunk.length;
    this.#recent.push(chunk);
    this.#recentBytes += chunk.length;
    if (this.#recentBytes <= this.#options.memoryBytesMax) return;
    this.#spill();
    this.#forget();
  }

  read(offset: number, length: number): SpoolPart {
    const end = Math.min(offset + length, this.#total);
    if (offset >= end) return { bytes: Buffer.alloc(0), offset };
    const fromFile = this.#readFile(offset, end);
    const start = Math.max(offset + fromFile.length, this.#recentStart);
    const fromRecent = this.#readRecent(start, end);
    if (fromFile.length === 0) return { bytes: fromRecent, offset: Math.min(start, this.#total) };
    // Not joined across a gap, because the output after it has a different offset.
    const isNext = start === offset + fromFile.length;
    return { bytes: isNext ? Buffer.concat([fromFile, fromRecent]) : fromFile, offset };
  }

  /** Everything stored, with a line for each gap. */
  content(): Buffer {
    const start = this.read(0, this.#total);
    const parts = [start.bytes];
    const rest = this.read(start.bytes.length, this.#total);
    if (rest.bytes.length > 0) {
      const lost = rest.offset - start.bytes.length;
      if (lost > 0) parts.push(Buffer.from(`\n[… ${lost} bytes were not kept …]\n`));
      parts.push(rest.bytes);
    }
    return Buffer.concat(parts);
  }

  /** Closes the file. Output in memory can still be read. */
  close(): void {
    this.#isClosed = true;
    this.#file?.close();
    this.#file = null;
    this.#fileBytes = 0;
  }

  #readFile(from: number, to: number): Buffer {
    const end = Math.min(to, this.#fileBytes);
    return this.#file === null || from >= end ? Buffer.alloc(0) : this.#file.read(from, end - from);
  }

  #readRecent(from: number, to: number): Buffer {
    return from >= to ? Buffer.alloc(0) : Buffer.concat(this.#recent).subarray(from - this.#recentStart, to - this.#recentStart);
  }

  get #recentStart(): number {
    return this.#total - this.#recentBytes;
  }

  /** Writes output that is not in the file yet, up to the file's limit. */
  #spill(): void {
    if (this.#fileBytes < this.#recentStart) return;
    const room = this.#options.fileBytesMax - this.#fileBytes;
    if (room <= 0) return;
    this.#file ??= SpoolFile.open(this.#options.folder);
    const fresh = Buffer.concat(this.#recent).subarray(this.#fileBytes - this.#recentStart);
    this.#fileBytes += this.#file?.append(fresh.subarray(0, room)) ?? 0;
  }

  #forget(): void {
    const keep = this.#options.memoryBytesMax / 2;
    if (this.#recentBytes <= keep) return;
    const newest = Buffer.concat(this.#recent);
    this.#recent = [Buffer.from(newest.subarray(newest.length - keep))];
    this.#recentBytes = keep;
  }
}

/** An unnamed file if the system allows it, so that a crash leaves nothing behind. */
class SpoolFile {
  readonly #handle: number;
  readonly #path: string;
  readonly #isUnlinked: boolean;
  #length = 0;

  private constructor(handle: number, path: string) {
    this.#handle = handle;
    this.#path = path;
    this.#isUnlinked = tryUnlink(path);
  }

  /** Null if no file can be created: then only the newest output is kept. */
  static open(folder: string): SpoolFile | null {
    const path = join(folder, `trayclaw-output-${randomUUID()}`);
    try {
      return new SpoolFile(openSync(path, 'wx+', 0o600), path);
    } catch (cause) {
      if (errnoOf(cause) === undefined) throw cause;
      return null;
    }
  }

  /** Returns how many bytes were written; fewer if the disk is full. */
  append(bytes: Buffer): number {
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#handle, bytes, written, bytes.length - written, this.#length + written);
    } catch (cause) {
      if (errnoOf(cause) === undefined) throw cause;
    }
    this.#length += written;
    return written;
  }

  read(offset: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    let filled = 0;
    while (filled < length) {
      const count = readSync(this.#handle, bytes, filled, length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  close(): void {
    closeSync(this.#handle);
    if (!this.#isUnlinked) tryUnlink(this.#path);
  }
}

function tryUnlink(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return false;
  }
}
