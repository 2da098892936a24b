// For tests of memory alone: its rows on a real log in a separate folder, and a person or an agent who says things.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ManualClock } from '../../../../doubles/manual-clock.ts';
import { RandomIds } from '../../../../../core/base/ids.ts';
import { silentLogger } from '../../../../../core/base/logger.ts';
import { MemoryRows, memoryMigrations } from '../../../../../core/features/memory/facts/memory-rows.ts';
import { SessionLog, sessionMigrations } from '../../../../../core/store/session/session.ts';
import { Storage } from '../../../../../core/store/storage/storage.ts';
import { vectorMigrations } from '../../../../../core/features/memory/vectors/vector-store.ts';
import { MemoryBook } from '../../../../../core/features/memory/facts/memory-book.ts';
import { formResolver } from '../../../../../core/features/memory/facts/contradictions.ts';
import { MemoryRecall } from '../../../../../core/features/memory/facts/recall.ts';
import { memoryStoreOf } from '../../../../../core/features/memory/facts/memory-store.ts';
import type { ProposedBy } from '../../../../../core/features/memory/facts/ports.ts';

export function openBench(candidatesMax = 50) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-memory-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...vectorMigrations, ...memoryMigrations] });
  onTestFinished(() => storage.dispose());
  const clock = new ManualClock();
  const rows = new MemoryRows(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [rows] });
  const near: { row: number; similarity: number }[] = [];
  const store = memoryStoreOf(rows, log, () => Promise.resolve(near));
  const recall = new MemoryRecall({ store, clock });
  const book = new MemoryBook({
    store,
    source: recall,
    resolver: formResolver,
    clock,
    ids: new RandomIds(() => clock.nowMs()),
    candidatesMax,
  });
  const says = (text: string, origin: Partial<ProposedBy> = {}, scope = 'shared') =>
    book.propose(
      { kind: 'fact', text, scope, importance: 0.5 },
      { by: 'person', actor: 'ada', sessionId: null, turnId: null, untrusted: [], ...origin },
    ).memory;
  const found = async (query: string, agentId = 'main') =>
    (await recall.recall({ query, agentId, limit: 10, signal: new AbortController().signal })).map(({ text }) => text);
  return { clock, rows, log, store, recall, book, says, found, near };
}
