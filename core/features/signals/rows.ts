// Earlier signals, for deduplication, and signals that wait for the next turn of their session, as rows derived from the log.

import { byType } from '../../contracts/event-table.ts';
import type { EventOf } from '../../contracts/events.ts';
import { signalReceivedSchema, type SignalReceived, type SignalSource } from '../../contracts/features/signals.ts';
import { HeldRows, Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const signalMigrations: readonly Migration[] = sqlMigrations({
  'signal-001-tables': `
    CREATE TABLE IF NOT EXISTS signals (
      source TEXT NOT NULL, name TEXT NOT NULL, dedupe_key TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL,
      PRIMARY KEY (source, name, dedupe_key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS signals_order ON signals (seq);
    CREATE TABLE IF NOT EXISTS signals_waiting (
      session_id TEXT NOT NULL, seq INTEGER NOT NULL, signal_id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session_id, seq)
    ) STRICT, WITHOUT ROWID;
  `,
});

export type SignalRow = SignalReceived & { readonly seq: number; readonly atMs: number };

/** The number of signals kept for deduplication. Older keys are forgotten; the log contains all signals. */
const SIGNALS_KEPT = 10_000;

const columns = 'body, seq, at_ms AS atMs FROM signals';

const statements = {
  put: 'INSERT OR IGNORE INTO signals (source, name, dedupe_key, seq, at_ms, body) VALUES (?, ?, ?, ?, ?, ?)',
  page: `SELECT ${columns} WHERE seq < ? ORDER BY seq DESC LIMIT ?`,
  pageOf: `SELECT ${columns} WHERE source = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  runsBetween: `SELECT count(*) FROM (SELECT body, at_ms FROM signals ORDER BY seq DESC LIMIT ${SIGNALS_KEPT})
     WHERE at_ms BETWEEN ? AND ? AND json_extract(body, '$.disposition') = 'run' AND json_extract(body, '$.source') NOT IN ('schedule', 'heartbeat')`,
  putWaiting: 'INSERT OR IGNORE INTO signals_waiting (session_id, seq, signal_id, body) VALUES (?, ?, ?, ?)',
  waiting: 'SELECT body FROM signals_waiting WHERE session_id = ? ORDER BY seq LIMIT 100',
  dropWaiting: 'DELETE FROM signals_waiting WHERE session_id = ? AND signal_id = ?',
};

interface StoredSignal {
  readonly body: string;
  readonly seq: number;
  readonly atMs: number;
}

export class SignalBook {
  readonly #sql: Statements;
  readonly #held: HeldRows;

  readonly apply = byType({
    'signal.received': (event) => this.#take(event),
    'signal.delivered': ({ body: { signalIds, sessionId } }) => {
      for (const signalId of signalIds) this.#sql.run(statements.dropWaiting, sessionId, signalId);
    },
    'session.deleted': ({ body }) => void this.#sql.run('DELETE FROM signals_waiting WHERE session_id = ?', body.sessionId),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.#held = new HeldRows(db, 'signals_waiting');
  }

  find(source: SignalSource, name: string, dedupeKey: string): SignalRow | null {
    const row = this.#sql.row<StoredSignal>(`SELECT ${columns} WHERE source = ? AND name = ? AND dedupe_key = ?`, source, name, dedupeKey);
    return row === undefined ? null : readSignal(row);
  }

  /** Newest first. */
  page(query: { readonly source?: SignalSource | undefined; readonly before: number; readonly limit: number }): SignalRow[] {
    const { source, before, limit } = query;
    const rows =
      source === undefined ? this.#sql.rows(statements.page, before, limit) : this.#sql.rows(statements.pageOf, source, before, limit);
    return (rows as StoredSignal[]).map(readSignal);
  }

  /** The number of turns that outside signals have started since this moment. */
  runsBetween(fromMs: number, toMs: number): number {
    return this.#sql.value(statements.runsBetween, fromMs, toMs) as number;
  }

  /** Oldest first. */
  waiting(sessionId: string): SignalReceived[] {
    if (!this.#held.any) return [];
    return this.#sql.values<string>(statements.waiting, sessionId).map((body) => signalReceivedSchema.parse(JSON.parse(body)));
  }

  countWaiting(sessionId: string): number {
    return this.#sql.value('SELECT count(*) FROM signals_waiting WHERE session_id = ?', sessionId) as number;
  }

  #take({ body, seq, atMs }: EventOf<'signal.received'>): void {
    const text = JSON.stringify(body);
    this.#sql.run(statements.put, body.source, body.name, body.dedupeKey, seq, atMs, text);
    this.#sql.run('DELETE FROM signals WHERE seq <= (SELECT seq FROM signals ORDER BY seq DESC LIMIT 1 OFFSET ?)', SIGNALS_KEPT);
    if (body.disposition !== 'queued' || body.sessionId === null) return;
    this.#held.put();
    this.#sql.run(statements.putWaiting, body.sessionId, seq, body.signalId, text);
  }
}

function readSignal({ body, seq, atMs }: StoredSignal): SignalRow {
  return { ...signalReceivedSchema.parse(JSON.parse(body)), seq, atMs };
}
