import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { deadLetterMigrations, DeadLetterRows } from './rows.ts';

test('a letter captured while the clock was ahead is due once the clock is right', () => {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-letters-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...deadLetterMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const rows = new DeadLetterRows(storage.db);
  const nowMs = 1_750_000_000_000;
  for (const [letterId, atMs] of [
    ['ahead', nowMs + 31_536_000_000],
    ['soon', nowMs],
  ] as const) {
    const about = { letterId, turnId: `trn_${letterId}`, sessionId: 'ses_a', channel: 'cli', nature: 'transient', attempt: 1, left: '' };
    const body = { ...about, reason: { code: 'model_timeout', message: 'late' }, retryAtMs: atMs + 60_000 };
    rows.apply({ type: 'dead_letter.captured', atMs, body } as never);
  }
  expect(rows.due(nowMs, 10).map(({ letterId }) => letterId)).toEqual(['ahead']);
});
