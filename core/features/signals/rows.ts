// Earlier signals, for deduplication, and signals that wait for the next turn of their session: rows kept in step with the log.

import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import { signalReceivedSchema, type SignalReceived, type SignalSource } from '../../contracts/features/signals.ts';
import { HeldRows, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const signalMigrations: readonly Migration[] = [
  {
    id: 'signal-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS signals (
          source TEXT NOT NULL, name TEXT NOT NULL, dedupe_key TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL,
          PRIMARY KEY (source, name, dedupe_key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS signals_order ON signals (seq);
        CREATE TABLE IF NOT EXISTS signals_waiting (
          session_id TEXT NOT NULL, seq INTEGER NOT NULL, signal_id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session_id, seq)
        ) STRICT, WITHOUT ROWID;
      `);
    },
  },
];

export type SignalRow = SignalReceived & { readonly seq: number; readonly atMs: number };

/** A key that came this many signals ago is forgotten; the log keeps all of them. */
const SIGNALS_KEPT = 10_000;

const columns = 'body, seq, at_ms AS atMs FROM signals';

function prepareAll(db: SqlDatabase) {
  return {
    put: db.prepare('INSERT OR IGNORE INTO signals (source, name, dedupe_key, seq, at_ms, body) VALUES (?, ?, ?, ?, ?, ?)'),
    prune: db.prepare('DELETE FROM signals WHERE seq <= (SELECT seq FROM signals ORDER BY seq DESC LIMIT 1 OFFSET ?)'),
    find: db.prepare(`SELECT ${columns} WHERE source = ? AND name = ? AND dedupe_key = ?`),
    page: db.prepare(`SELECT ${columns} WHERE seq < ? ORDER BY seq DESC LIMIT ?`),
    pageOf: db.prepare(`SELECT ${columns} WHERE source = ? AND seq < ? ORDER BY seq DESC LIMIT ?`),
    runsSince: db
      .prepare(
        `SELECT count(*) FROM (SELECT body, at_ms FROM signals ORDER BY seq DESC LIMIT ${SIGNALS_KEPT})
       WHERE at_ms > ? AND json_extract(body, '$.disposition') = 'run' AND json_extract(body, '$.source') NOT IN ('schedule', 'heartbeat')`,
      )
      .pluck(),
    putWaiting: db.prepare('INSERT OR IGNORE INTO signals_waiting (session_id, seq, signal_id, body) VALUES (?, ?, ?, ?)'),
    waiting: db.prepare('SELECT body FROM signals_waiting WHERE session_id = ? ORDER BY seq LIMIT 100').pluck(),
    countWaiting: db.prepare('SELECT count(*) FROM signals_waiting WHERE session_id = ?').pluck(),
    dropWaiting: db.prepare('DELETE FROM signals_waiting WHERE session_id = ? AND signal_id = ?'),
    dropSession: db.prepare('DELETE FROM signals_waiting WHERE session_id = ?'),
  };
}

interface StoredSignal {
  readonly body: string;
  readonly seq: number;
  readonly atMs: number;
}

export class SignalBook {
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #held: HeldRows;

  constructor(db: SqlDatabase) {
    this.#sql = prepareAll(db);
    this.#held = new HeldRows(db, 'signals_waiting');
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'signal.received':
        this.#take(event);
        return;
      case 'signal.delivered':
        for (const signalId of event.body.signalIds) this.#sql.dropWaiting.run(event.body.sessionId, signalId);
        return;
      case 'session.deleted':
        this.#sql.dropSession.run(event.body.sessionId);
        return;
      default:
        return;
    }
  }

  find(source: SignalSource, name: string, dedupeKey: string): SignalRow | null {
    const row = this.#sql.find.get(source, name, dedupeKey) as StoredSignal | undefined;
    return row === undefined ? null : readSignal(row);
  }

  /** Newest first. */
  page(query: { readonly source?: SignalSource | undefined; readonly before: number; readonly limit: number }): SignalRow[] {
    const { source, before, limit } = query;
    const rows = source === undefined ? this.#sql.page.all(before, limit) : this.#sql.pageOf.all(source, before, limit);
    return (rows as StoredSignal[]).map(readSignal);
  }

  /** Turns that signals from outside started. */
  runsSince(ms: number): number {
    return this.#sql.runsSince.get(ms) as number;
  }

  /** Oldest first. */
  waiting(sessionId: string): SignalReceived[] {
    if (!this.#held.any) return [];
    return (this.#sql.waiting.all(sessionId) as string[]).map((body) => signalReceivedSchema.parse(JSON.parse(body)));
  }

  countWaiting(sessionId: string): number {
    return this.#sql.countWaiting.get(sessionId) as number;
  }

  #take({ body, seq, atMs }: EventOf<'signal.received'>): void {
    const text = JSON.stringify(body);
    this.#sql.put.run(body.source, body.name, body.dedupeKey, seq, atMs, text);
    this.#sql.prune.run(SIGNALS_KEPT);
    if (body.disposition !== 'queued' || body.sessionId === null) return;
    this.#held.put();
    this.#sql.putWaiting.run(body.sessionId, seq, body.signalId, text);
  }
}

function readSignal({ body, seq, atMs }: StoredSignal): SignalRow {
  return { ...signalReceivedSchema.parse(JSON.parse(body)), seq, atMs };
}
