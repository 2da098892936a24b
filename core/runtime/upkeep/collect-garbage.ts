// Removes content once a day that is no longer needed.

import type { Clock } from '../../base/clock.ts';
import type { Config } from '../../contracts/config.ts';
import type { ArtifactStore } from '../../store/artifact/artifact.ts';
import type { Checkpoints } from '../../store/checkpoint/checkpoint.ts';
import type { Storage } from '../../store/storage/storage.ts';

const DAY_MS = 86_400_000;

export interface GarbageDeps {
  readonly clock: Clock;
  readonly retention: Config['retention'];
  readonly db: Storage['db'];
  readonly artifacts: ArtifactStore;
  readonly checkpoints: Checkpoints;
}

/** Keeps content that a session refers to, content for undo as long as undo may need it, and everything else until its retention ends. */
export function collectGarbage({ clock, retention, db, artifacts, checkpoints }: GarbageDeps): void {
  const { artifactDays, undoDays } = retention;
  const nowMs = clock.nowMs();
  checkpoints.releaseOld();
  const used = db.prepare(
    `SELECT 1 FROM artifact_uses u JOIN artifacts a USING (sha256) LEFT JOIN sessions s ON s.session_id = u.session_id
     WHERE u.sha256 = ? AND (s.session_id IS NOT NULL OR a.last_used_at_ms >= ?) LIMIT 1`,
  );
  artifacts.collectGarbage({
    nowMs,
    olderThanDays: Math.min(artifactDays, undoDays),
    isReferenced: (sha256) => used.get(sha256, nowMs - artifactDays * DAY_MS) !== undefined || checkpoints.needs(sha256),
  });
}
