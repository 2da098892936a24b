// Recall over many memories, as the runtime does it: by full-text search alone, and by full-text and vector search. Vectors come from a
// substitute that hashes words, so that the search is timed and not a model.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { systemSessionId, type AnyDraft } from '../../../core/contracts/events.ts';
import {
  MemoryRecall,
  type MemoryStore,
  memoryHash,
  MemoryRows,
  memoryMigrations,
  memoryStoreOf,
  VectorStore,
  vectorMigrations,
} from '../../../core/features/memory/memory.ts';
import { SessionLog, sessionMigrations } from '../../../core/store/session/session.ts';
import { Storage } from '../../../core/store/storage/storage.ts';
import { hashedVector } from '../../doubles/hashed-embedder.ts';
import { summarize, type Summary } from '../statistics.ts';
import { serveJob } from './worker.ts';
import { createWordSource } from './words.ts';

export interface RecallJob {
  readonly memories: number;
  readonly questions: number;
}

/** Milliseconds per question. */
export interface RecallFigures {
  readonly words: Summary;
  readonly hybrid: Summary;
}

const DIMENSIONS = 384;
const WORDS_EACH = 14;
const WORDS_ASKED = 6;
const BATCH = 1_000;

await serveJob(measure);

async function measure(job: RecallJob): Promise<RecallFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const storage = Storage.open({
    home: join(folder, 'home'),
    migrations: [...sessionMigrations, ...vectorMigrations, ...memoryMigrations],
  });
  try {
    const rows = new MemoryRows(storage.db);
    const vectors = new VectorStore(storage.db);
    const log = new SessionLog({ storage, clock: systemClock, logger: silentLogger, projections: [rows] });
    vectors.pin('bench', DIMENSIONS);
    const index = vectors.open('memory');
    index.ensure();
    fill(log, job.memories);
    for (let waiting = rows.waiting(BATCH); waiting.length > 0; waiting = rows.waiting(BATCH)) {
      storage.transact(() => {
        for (const { row, scope, text } of waiting) {
          vectors.keep(memoryHash(text), hashedVector(text, DIMENSIONS));
          const vector = vectors.cached(memoryHash(text));
          if (vector !== null) index.put(row, scope, vector);
          rows.texts.setEmbedded(row);
        }
      });
    }
    storage.checkpoint();
    const near: MemoryStore['findMeaning'] = (query, scopes, limit) =>
      Promise.resolve(
        index.nearest(hashedVector(query, DIMENSIONS), scopes, limit, (row) => {
          const [memory] = rows.at([row]);
          return memory === undefined ? null : vectors.cached(memoryHash(memory.text));
        }),
      );
    const words = await time(
      memoryStoreOf(rows, log, () => Promise.resolve([])),
      job.questions,
    );
    return { words, hybrid: await time(memoryStoreOf(rows, log, near), job.questions) };
  } finally {
    storage.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(log: SessionLog, count: number): void {
  const words = createWordSource(7);
  for (let from = 0; from < count; from += BATCH) {
    const drafts = Array.from({ length: Math.min(BATCH, count - from) }, (_, index): AnyDraft => {
      const scope = index % 10 === 0 ? 'agent:other' : 'shared';
      const origin = { by: 'person' as const, actor: 'bench', sessionId: null, turnId: null };
      const memory = {
        memoryId: `mem_${from + index}`,
        kind: 'fact' as const,
        text: words.text(WORDS_EACH),
        scope,
        importance: 0.5,
        origin,
        untrusted: [],
      };
      return { type: 'memory.remembered', body: { memory, state: 'kept', rule: 'bench' } };
    });
    log.append(systemSessionId, drafts);
  }
}

async function time(store: MemoryStore, questions: number): Promise<Summary> {
  const recall = new MemoryRecall({ store, clock: systemClock });
  const words = createWordSource(11);
  const { signal } = new AbortController();
  const samples: number[] = [];
  for (let i = 0; i < questions; i++) {
    const query = words.text(WORDS_ASKED);
    const startedMs = performance.now();
    await recall.recall({ query, agentId: 'main', limit: 10, signal });
    samples.push(performance.now() - startedMs);
  }
  return summarize(samples);
}
