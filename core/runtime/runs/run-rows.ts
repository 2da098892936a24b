// Which runs of one kind there are and which are unfinished, kept in step with the log. The events are the truth; starts nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { SqlDatabase } from '../../store/storage/storage.ts';

export interface RunTable {
  readonly name: string;
  /** The column of the id. */
  readonly key: string;
}

export interface RunRow {
  readonly id: string;
  readonly sessionId: string;
}

/** `start` where the event begins a run, `end` where it finishes one; null for every other event. */
export type ReadRun = (event: AnyEvent) => { readonly id: string; readonly at: 'start' | 'end' } | null;

export function createRunTable(db: SqlDatabase, { name, key }: RunTable): void {
  db.exec(`
        CREATE TABLE IF NOT EXISTS ${name} (
          ${key} TEXT PRIMARY KEY, session_id TEXT NOT NULL, is_open INTEGER NOT NULL DEFAULT 1, started_at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS ${name}_open ON ${name} (started_at_ms) WHERE is_open = 1;
      `);
}

function prepareAll(db: SqlDatabase, { name, key }: RunTable) {
  const columns = `${key} AS id, session_id AS sessionId FROM ${name}`;
  return {
    put: db.prepare(`INSERT OR IGNORE INTO ${name} (${key}, session_id, started_at_ms) VALUES (?, ?, ?)`),
    close: db.prepare(`UPDATE ${name} SET is_open = 0 WHERE ${key} = ?`),
    drop: db.prepare(`DELETE FROM ${name} WHERE session_id = ?`),
    one: db.prepare(`SELECT ${columns} WHERE ${key} = ?`),
    open: db.prepare(`SELECT ${columns} WHERE is_open = 1 ORDER BY started_at_ms, ${key}`),
    newest: db.prepare(`SELECT ${columns} ORDER BY started_at_ms DESC, ${key} DESC LIMIT ?`),
  };
}

export class RunRows {
  readonly #db: SqlDatabase;
  readonly #table: RunTable;
  readonly #read: ReadRun;
  // Prepared when first used: most starts know no run.
  #sql: ReturnType<typeof prepareAll> | null = null;

  constructor(db: SqlDatabase, table: RunTable, read: ReadRun) {
    this.#db = db;
    this.#table = table;
    this.#read = read;
  }

  apply(event: AnyEvent): void {
    if (event.type === 'session.deleted') this.#statements.drop.run(event.body.sessionId);
    const run = this.#read(event);
    if (run?.at === 'start') this.#statements.put.run(run.id, event.sessionId, event.atMs);
    else if (run?.at === 'end') this.#statements.close.run(run.id);
  }

  get(id: string): RunRow | null {
    return (this.#statements.one.get(id) as RunRow | undefined) ?? null;
  }

  open(): RunRow[] {
    return this.#statements.open.all() as RunRow[];
  }

  newest(limit: number): RunRow[] {
    return this.#statements.newest.all(limit) as RunRow[];
  }

  get #statements(): ReturnType<typeof prepareAll> {
    return (this.#sql ??= prepareAll(this.#db, this.#table));
  }
}
