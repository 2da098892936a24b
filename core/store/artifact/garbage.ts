// Garbage collection of artifacts. The order matters: check references, remove rows, then files. A crash at any point loses nothing
// referenced.

import type { ArtifactFiles } from './artifact-files.ts';
import type { ArtifactRows } from './artifact-rows.ts';

export interface GarbageQuery {
  readonly nowMs: number;
  /** Returns true while any kept data refers to the content. */
  isReferenced(sha256: string): boolean;
  readonly olderThanDays: number;
  /** The maximum number of removals per call. Defaults to 500. */
  readonly limit?: number;
}

export interface GarbageReport {
  readonly removed: readonly string[];
  readonly freedBytes: number;
  /** Files without a row, left by a crash between the two writes. */
  readonly orphans: number;
  readonly temporary: number;
  /** True if there is more to remove; call again. */
  readonly more: boolean;
}

const DAY_MS = 86_400_000;
/** A file this recent may belong to a write in progress. */
const GRACE_MS = 3_600_000;
const PAGE_ROWS = 500;

export function collectGarbage(rows: ArtifactRows, files: ArtifactFiles, query: GarbageQuery): GarbageReport {
  const limit = query.limit ?? 500;
  const doomed = findUnreferenced(rows, query, limit);
  rows.remove(doomed.map((row) => row.sha256));
  for (const row of doomed) files.remove(row.sha256);

  const graceMs = query.nowMs - GRACE_MS;
  const orphans = [];
  for (const file of files.stored()) {
    if (orphans.length >= limit) break;
    const isOrphan = file.changedAtMs < graceMs && rows.sizeBytes(file.sha256) === null && !query.isReferenced(file.sha256);
    if (isOrphan) orphans.push(file);
  }
  for (const file of orphans) files.remove(file.sha256);

  const freed = [...doomed, ...orphans].reduce((sum, item) => sum + item.sizeBytes, 0);
  return {
    removed: doomed.map((row) => row.sha256),
    freedBytes: freed,
    orphans: orphans.length,
    temporary: files.removeTemporary(graceMs),
    more: doomed.length >= limit || orphans.length >= limit,
  };
}

function findUnreferenced(rows: ArtifactRows, query: GarbageQuery, limit: number): { sha256: string; sizeBytes: number }[] {
  const beforeMs = query.nowMs - query.olderThanDays * DAY_MS;
  const found: { sha256: string; sizeBytes: number }[] = [];
  let after = { lastUsedAtMs: -1, sha256: '' };
  for (;;) {
    const page = rows.unusedSince(beforeMs, after, PAGE_ROWS);
    for (const row of page) {
      if (found.length < limit && !query.isReferenced(row.sha256)) found.push({ sha256: row.sha256, sizeBytes: row.sizeBytes });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS || found.length >= limit) return found;
    after = last;
  }
}
