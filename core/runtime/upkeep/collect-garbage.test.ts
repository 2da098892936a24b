import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../base/clock.ts';
import { ArtifactStore, artifactMigrations } from '../../store/artifact/artifact.ts';
import { sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { collectGarbage, retentionTime } from './collect-garbage.ts';

const DAY_MS = 86_400_000;

test('a clock that is a year ahead for a while makes nothing old', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-garbage-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...artifactMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const { db } = storage;
  const clock = new ManualClock();
  const artifacts = new ArtifactStore({ db, folder: join(home, 'artifacts'), clock });
  const undoSinceMs: number[] = [];
  const checkpoints = { releaseOld: (nowMs: number) => void undoSinceMs.push(nowMs), needs: () => false };
  const daily = (): void => {
    const nowMs = retentionTime(db, clock.nowMs());
    collectGarbage({ nowMs, retention: { artifactDays: 30, undoDays: 30, backups: 7 }, db, artifacts, checkpoints });
  };
  const { sha256 } = artifacts.put('kept', { name: 'a.txt', mediaType: 'text/plain' });
  const beganMs = clock.nowMs();
  daily();
  clock.advance(365 * DAY_MS);
  for (let run = 0; run < 3; run++) daily();
  clock.advance(-364 * DAY_MS);
  daily();
  expect(undoSinceMs.map((ms) => (ms - beganMs) / DAY_MS)).toEqual([0, 2, 4, 6, 1]);
  expect(Buffer.from(artifacts.read(sha256)).toString()).toBe('kept');
  for (let day = 1; day <= 30; day++) {
    clock.advance(DAY_MS);
    daily();
  }
  expect(() => artifacts.read(sha256)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
});
