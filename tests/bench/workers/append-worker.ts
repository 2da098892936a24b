// Measures appends to the session log: single events without and with a durable commit, batches, and whether the cost grows with the log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyDraft } from '../../../core/contracts/events.ts';
import type { SessionLog } from '../../../core/store/session/session.ts';
import Database from 'better-sqlite3';
import { summarize, type Summary } from '../statistics.ts';
import { openLog } from './open-log.ts';
import { serveJob } from './worker.ts';
import { createWordSource } from './words.ts';

export interface AppendJob {
  readonly events: number;
  readonly barriers: number;
  readonly batches: number;
  /** How long the log grows before the appends at its end are timed. */
  readonly grownTo: number;
}

/** Milliseconds per call. */
export interface AppendFigures {
  readonly normal: Summary;
  readonly barrier: Summary;
  readonly batch: Summary;
  readonly grown: Summary;
  /** Inserting a row of the same size into a plain table, as a reference for the speed of this machine at this moment. */
  readonly bareTable: Summary;
}

const BODY_BYTES = 1024;
const BATCH_EVENTS = 100;
const SESSIONS = 20;

await serveJob(measure);

function measure(job: AppendJob): Promise<AppendFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const { log, storage } = openLog(join(folder, 'home'));
  try {
    const append = (count: number, events: number, barrier: boolean): Summary => timeAppends(log, { count, events, barrier });
    append(job.events, 1, false);
    const normal = append(job.events, 1, false);
    storage.checkpoint();
    const barrier = append(job.barriers, 1, true);
    const batch = append(job.batches, BATCH_EVENTS, false);
    append(Math.max(0, Math.ceil((job.grownTo - log.lastSeq) / BATCH_EVENTS)), BATCH_EVENTS, false);
    storage.checkpoint();
    const grown = append(job.events, 1, false);
    return Promise.resolve({ normal, barrier, batch, grown, bareTable: timeBareTable(folder, job.events) });
  } finally {
    storage.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

function timeAppends(log: SessionLog, how: { count: number; events: number; barrier: boolean }): Summary {
  const words = createWordSource(how.count);
  const samples: number[] = [];
  for (let i = 0; i < how.count; i++) {
    const drafts = Array.from({ length: how.events }, () => oneKilobyte(words.text(BODY_BYTES / 8)));
    const startedMs = performance.now();
    log.append(`session-${i % SESSIONS}`, drafts, how.barrier);
    samples.push(performance.now() - startedMs);
  }
  return summarize(samples);
}

function timeBareTable(folder: string, count: number): Summary {
  const db = new Database(join(folder, 'bare.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  db.exec('CREATE TABLE rows (seq INTEGER PRIMARY KEY, body TEXT)');
  const insert = db.prepare('INSERT INTO rows (body) VALUES (?)');
  const body = 'x'.repeat(BODY_BYTES);
  const samples: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedMs = performance.now();
    insert.run(body);
    samples.push(performance.now() - startedMs);
  }
  db.close();
  return summarize(samples);
}

function oneKilobyte(text: string): AnyDraft {
  const body = { text: '' };
  const room = BODY_BYTES - JSON.stringify(body).length;
  return { type: 'assistant.message', body: { text: text.padEnd(room, '.').slice(0, room) } };
}
