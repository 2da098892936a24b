// The hash of a file's content, remembered while the file's metadata stays the same. Bounded in memory and in time.

import { hash } from 'node:crypto';
import { readFileSync, realpathSync, statSync, type BigIntStats } from 'node:fs';

const ENTRIES_MAX = 1000;
const CONTENT_BYTES_MAX = 16_000_000n;
/** File systems count time in ticks: a file changed in the tick of its reading would keep its metadata. */
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

  /** SHA-256 of a plain file's content in hex; null if there is none that can be read. */
  of(path: string): string | null {
    try {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
      return stat?.isFile() === true ? this.#hashOf(path, stat) : null;
    } catch {
      // An unreadable file differs from any content, but not from a missing one: neither can be run or obeyed.
      return null;
    }
  }

  /**
   * Beyond 16 MB the time to read would be noticeable at every first question, so such a file is identified by its metadata instead: size,
   * inode and the two times of change, of which only the kernel sets the second.
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

/** The path with its links resolved, or unchanged if nothing is there. */
export function realOrGiven(path: string): string {
  try {
    // Most settings files do not exist, and a failed call costs more than a check.
    return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync.native(path);
  } catch {
    // Unresolvable: its letters identify it.
    return path;
  }
}
