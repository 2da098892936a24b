// The content of images: small content in the database, large content in the content store. A row needs no separate sync: the commit of
// the request that follows waits for the disk, including everything committed before.

import { hash } from 'node:crypto';
import { AppError } from '../../contracts/errors.ts';
import { Statements, mapStorageError, type SqlDatabase } from '../storage/storage.ts';
import type { ImageStore } from './before-images.ts';

const ROW_BYTES_MAX = 128_000;
/** The number of rows removed at a time. */
const RELEASED_MAX = 1_000;

const statements = {
  put: 'INSERT INTO checkpoint_contents (sha256, content, used_at_ms) VALUES (?, ?, ?) ON CONFLICT (sha256) DO UPDATE SET used_at_ms = excluded.used_at_ms',
  size: 'SELECT length(content) AS sizeBytes FROM checkpoint_contents WHERE sha256 = ?',
  unusedSince: 'SELECT sha256 FROM checkpoint_contents WHERE used_at_ms < ? LIMIT ?',
};

export class ImageContents implements ImageStore {
  readonly #sql: Statements;
  readonly #large: ImageStore;
  readonly #nowMs: () => number;

  constructor(db: SqlDatabase, large: ImageStore, nowMs: () => number) {
    this.#sql = new Statements(db);
    this.#large = large;
    this.#nowMs = nowMs;
  }

  keep(content: Uint8Array): { sha256: string; sizeBytes: number } {
    if (content.length > ROW_BYTES_MAX) return this.#large.keep(content);
    const sha256 = hash('sha256', content, 'hex');
    try {
      this.#sql.run(statements.put, sha256, content, this.#nowMs());
    } catch (cause) {
      throw mapStorageError(cause);
    }
    return { sha256, sizeBytes: content.length };
  }

  keepStream(source: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<{ sha256: string; sizeBytes: number }> {
    return this.#large.keepStream(source, signal);
  }

  read(sha256: string, range?: { offset: number; length: number }): Uint8Array {
    const row = this.#sql.row<{ content: Uint8Array }>('SELECT content FROM checkpoint_contents WHERE sha256 = ?', sha256);
    if (row === undefined) return this.#large.read(sha256, range);
    if (hash('sha256', row.content, 'hex') !== sha256) throw new AppError('store_corrupt', 'The copy that was kept is damaged.');
    return range === undefined ? row.content : row.content.subarray(range.offset, range.offset + range.length);
  }

  has(sha256: string): boolean {
    return this.#sql.row(statements.size, sha256) !== undefined || this.#large.has(sha256);
  }

  /** Removes unneeded rows that were not used since then. */
  release(beforeMs: number, isNeeded: (sha256: string) => boolean): void {
    for (const { sha256 } of this.#sql.rows<{ sha256: string }>(statements.unusedSince, beforeMs, RELEASED_MAX)) {
      if (!isNeeded(sha256)) this.#sql.run('DELETE FROM checkpoint_contents WHERE sha256 = ?', sha256);
    }
  }
}
