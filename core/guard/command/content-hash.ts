// Hashes the content of files and caches a hash while the file's metadata stays the same. Bounded in memory and time.

import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync, type BigIntStats } from 'node:fs';

const ENTRIES_MAX = 1000;
const CONTENT_BYTES_MAX = 16_000_000n;
/**
 * File systems count time in ticks. A file changed within the same tick as it was read would keep its metadata, so recent files are not
 * cached.
 */
const SETTLED_MS = 2000n;

interface Remembered {
  readonly marks: string;
  readonly sha256: string;
}

export class ContentHashes {
  readonly #remembered = new Map<string, Remembered>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** SHA-256 of a regular file's content in hex. Null if there is no such file or it is unreadable. */
  of(path: string): string | null {
    try {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
      return stat?.isFile() === true ? this.#hashOf(path, stat) : null;
    } catch {
      // Unreadable and missing files may count as the same: neither can be run or used as settings.
      return null;
    }
  }

  /**
   * Reading more than 16 MB would noticeably delay each first approval, so larger files are identified by their metadata instead: device,
   * inode, size, and the times of modification and change. Only the kernel can set the latter.
   */
  #hashOf(path: string, stat: BigIntStats): string {
    const marks = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    if (stat.size > CONTENT_BYTES_MAX) return hash('sha256', marks, 'hex');
    const known = this.#remembered.get(path);
    if (known?.marks === marks) return known.sha256;
    const sha256 = hash('sha256', readFileSync(path), 'hex');
    if (BigInt(this.#nowMs()) - stat.ctimeMs > SETTLED_MS) this.#remember(path, { marks, sha256 });
    return sha256;
  }

  #remember(path: string, entry: Remembered): void {
    this.#remembered.delete(path);
    this.#remembered.set(path, entry);
    const oldest = this.#remembered.keys().next();
    if (this.#remembered.size > ENTRIES_MAX && oldest.done !== true) this.#remembered.delete(oldest.value);
  }
}

/** Returns the path with its links resolved, or unchanged if nothing exists there. */
export function realOrGiven(path: string): string {
  try {
    // Most settings files do not exist, and a failing call costs more than this check.
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync.native(path);
  } catch {
    // The path cannot be resolved, so its spelling identifies it.
    return path;
  }
}
