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
  rows.remove(doomed);
  for (const sha256 of doomed) files.remove(sha256);

  const graceMs = query.nowMs - GRACE_MS;
  // Files without a row, left by a crash between the two writes.
  const orphans: string[] = [];
  for (const { sha256, changedAtMs } of files.stored()) {
    if (orphans.length >= limit) break;
    if (changedAtMs < graceMs && rows.sizeBytes(sha256) === null && !query.isReferenced(sha256)) orphans.push(sha256);
  }
  for (const sha256 of orphans) files.remove(sha256);
  return { removed: doomed, temporary: files.removeTemporary(graceMs), more: doomed.length >= limit || orphans.length >= limit };
}

function findUnreferenced(rows: ArtifactRows, query: GarbageQuery, limit: number): string[] {
  const beforeMs = query.nowMs - query.olderThanDays * DAY_MS;
  const found: string[] = [];
  let after = { lastUsedAtMs: -1, sha256: '' };
  for (;;) {
    const page = rows.unusedSince(beforeMs, after, PAGE_ROWS);
    for (const row of page) {
      if (found.length < limit && !query.isReferenced(row.sha256)) found.push(row.sha256);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS || found.length >= limit) return found;
    after = last;
  }
}
