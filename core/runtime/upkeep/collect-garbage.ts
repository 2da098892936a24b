// Removes content once a day that is no longer needed.

import type { Config } from '../../contracts/config.ts';
import type { ArtifactStore } from '../../store/artifact/artifact.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import { openCopy, type Storage } from '../../store/storage/storage.ts';

const DAY_MS = 86_400_000;

export interface GarbageDeps {
  readonly nowMs: number;
  readonly retention: Config['retention'];
  readonly db: Storage['db'];
  /** The files of the databases that restores replaced. */
  readonly replaced: readonly string[];
  readonly artifacts: Pick<ArtifactStore, 'collectGarbage'>;
  readonly checkpoints: Pick<Checkpoints, 'needs' | 'releaseOld'>;
}

const ADVANCE_MS_MAX = 2 * DAY_MS;

/**
 * The time by which ages are judged. A clock that is ahead for a while must not make everything old, so each daily run advances this time
 * by two days at most; it never passes the machine's clock.
 */
export function retentionTime(db: Storage['db'], nowMs: number): number {
  const before = db.prepare('SELECT reached_ms FROM retention_clock').pluck().get() as number | undefined;
  const reachedMs = Math.min(nowMs, (before ?? nowMs) + ADVANCE_MS_MAX);
  db.prepare('INSERT OR REPLACE INTO retention_clock (one, reached_ms) VALUES (1, ?)').run(reachedMs);
  return reachedMs;
}

/**
 * Keeps content that a session refers to, content for undo as long as undo may need it, everything that a replaced database holds, because
 * it may be restored as well, and all else until its retention ends.
 */
export function collectGarbage({ nowMs, retention, db, replaced, artifacts, checkpoints }: GarbageDeps): void {
  const { artifactDays, undoDays } = retention;
  checkpoints.releaseOld(nowMs);
  const used = db.prepare(
    `SELECT 1 FROM artifact_uses u JOIN artifacts a USING (sha256) LEFT JOIN sessions s ON s.session_id = u.session_id
     WHERE u.sha256 = ? AND (s.session_id IS NOT NULL OR a.last_used_at_ms >= ?) LIMIT 1`,
  );
  const isUsed = (sha256: string): boolean => used.get(sha256, nowMs - artifactDays * DAY_MS) !== undefined;
  const others = openReplaced(replaced);
  try {
    artifacts.collectGarbage({
      nowMs,
      olderThanDays: Math.min(artifactDays, undoDays),
      isReferenced: (sha256) =>
        isUsed(sha256) || checkpoints.needs(sha256, nowMs) || others.some(({ has }) => has.get(sha256) !== undefined),
    });
  } finally {
    for (const other of others) other.db.close();
  }
}

function openReplaced(files: readonly string[]) {
  return files.flatMap((file) => {
    let db: Storage['db'] | undefined;
    try {
      db = openCopy(file);
      return [{ db, has: db.prepare('SELECT 1 FROM artifacts WHERE sha256 = ?') }];
    } catch {
      // A damaged database cannot be restored, so it needs no content.
      db?.close();
      return [];
    }
  });
}
