// Lists the runs of one kind and which of them are unfinished, kept in step with the log. The events are the source of truth; starts
// nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import { Statements, type SqlDatabase } from '../../store/storage/storage.ts';

export interface RunTable {
  readonly name: string;
  /** The name of the id column. */
  readonly key: string;
}

export interface RunRow {
  readonly id: string;
  readonly sessionId: string;
}

/** Returns `start` if the event begins a run, `end` if it finishes one, and null for every other event. */
export type ReadRun = (event: AnyEvent) => { readonly id: string; readonly at: 'start' | 'end' } | null;

export function createRunTable(db: SqlDatabase, { name, key }: RunTable): void {
  db.exec(`
        CREATE TABLE IF NOT EXISTS ${name} (
          ${key} TEXT PRIMARY KEY, session_id TEXT NOT NULL, is_open INTEGER NOT NULL DEFAULT 1, started_at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS ${name}_open ON ${name} (started_at_ms) WHERE is_open = 1;
      `);
}

export class RunRows {
  readonly #sql: Statements;
  readonly #table: RunTable;
  readonly #read: ReadRun;

  constructor(db: SqlDatabase, table: RunTable, read: ReadRun) {
    this.#sql = new Statements(db);
    this.#table = table;
    this.#read = read;
  }

  apply(event: AnyEvent): void {
    const { name, key } = this.#table;
    if (event.type === 'session.deleted') this.#sql.run(`DELETE FROM ${name} WHERE session_id = ?`, event.body.sessionId);
    const run = this.#read(event);
    if (run?.at === 'start')
      this.#sql.run(
        `INSERT OR IGNORE INTO ${name} (${key}, session_id, started_at_ms) VALUES (?, ?, ?)`,
        run.id,
        event.sessionId,
        event.atMs,
      );
    else if (run?.at === 'end') this.#sql.run(`UPDATE ${name} SET is_open = 0 WHERE ${key} = ?`, run.id);
  }

  get(id: string): RunRow | null {
    return this.#select(`WHERE ${this.#table.key} = ?`, id)[0] ?? null;
  }

  open(): RunRow[] {
    return this.#select(`WHERE is_open = 1 ORDER BY started_at_ms, ${this.#table.key}`);
  }

  newest(limit: number): RunRow[] {
    return this.#select(`ORDER BY started_at_ms DESC, ${this.#table.key} DESC LIMIT ?`, limit);
  }

  #select(rest: string, ...values: (string | number)[]): RunRow[] {
    return this.#sql.rows<RunRow>(`SELECT ${this.#table.key} AS id, session_id AS sessionId FROM ${this.#table.name} ${rest}`, ...values);
  }
}
