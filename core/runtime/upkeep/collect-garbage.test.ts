import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { ArtifactStore, artifactMigrations } from '../../store/artifact/artifact.ts';
import { sessionMigrations } from '../../store/session/session.ts';
import { createBackup, listReplaced, restoreBackup, Storage } from '../../store/storage/storage.ts';
import { collectGarbage, retentionTime } from './collect-garbage.ts';

const DAY_MS = 86_400_000;
const retention = { artifactDays: 30, undoDays: 30, backups: 7 };
const migrations = [...sessionMigrations, ...artifactMigrations];

test('a clock that is a year ahead for a while makes nothing old', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-garbage-'));
  const storage = Storage.open({ home, migrations });
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
    collectGarbage({ nowMs, retention, db, replaced: [], artifacts, checkpoints });
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

test('content of a database that a restore replaced stays as long as that database', async () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-garbage-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const clock = new ManualClock(Date.now());
  const checkpoints = { releaseOld: () => undefined, needs: () => false };
  const open = () => {
    const storage = Storage.open({ home, migrations });
    return { storage, artifacts: new ArtifactStore({ db: storage.db, folder: join(home, 'artifacts'), clock }) };
  };
  const first = open();
  const { file } = await createBackup(first.storage.db, home, { nowMs: clock.nowMs() });
  const { sha256 } = first.artifacts.put('made after the backup', { name: 'a.txt', mediaType: 'text/plain' });
  first.storage.dispose();
  const { kept } = restoreBackup(home, file, clock.nowMs());
  const second = open();
  clock.advance(2 * DAY_MS);
  const { db } = second.storage;
  const { files: replaced } = listReplaced(home);
  expect(replaced).toEqual([kept]);
  collectGarbage({ nowMs: clock.nowMs(), retention, db, replaced, artifacts: second.artifacts, checkpoints });
  second.storage.dispose();
  restoreBackup(home, kept ?? '', clock.nowMs());
  const third = open();
  expect(Buffer.from(third.artifacts.read(sha256)).toString()).toBe('made after the backup');
  collectGarbage({
    nowMs: clock.nowMs() + 90 * DAY_MS,
    retention,
    db: third.storage.db,
    replaced: [join(home, 'none')],
    artifacts: third.artifacts,
    checkpoints,
  });
  expect(() => third.artifacts.read(sha256)).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  third.storage.dispose();
});
