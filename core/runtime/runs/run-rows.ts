// Lists the runs of one kind and which of them are unfinished, kept in step with the log. The events are the source of truth; starts
// nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import { Statements, type SqlDatabase } from '../../store/storage/storage.ts';

export interface RunTable {
  readonly name: string;
  /** The name of the id column. */
  readonly key: string;
  /** Its runs begin with the event `family.started` and end with `family.finished`. */
  readonly family: 'pipeline' | 'work';
  /** The field of these events that holds the id. */
  readonly id: string;
}

export interface RunRow {
  readonly id: string;
  readonly sessionId: string;
}

/** The SQL of the migration that makes the table. */
export function runTableSql({ name, key }: RunTable): string {
  return `
        CREATE TABLE IF NOT EXISTS ${name} (
          ${key} TEXT PRIMARY KEY, session_id TEXT NOT NULL, is_open INTEGER NOT NULL DEFAULT 1, started_at_ms INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS ${name}_open ON ${name} (started_at_ms) WHERE is_open = 1;
      `;
}

export class RunRows {
  readonly #sql: Statements;
  readonly #table: RunTable;
  readonly #started: string;
  readonly #finished: string;

  constructor(db: SqlDatabase, table: RunTable) {
    this.#sql = new Statements(db);
    this.#table = table;
    this.#started = `${table.family}.started`;
    this.#finished = `${table.family}.finished`;
  }

  apply({ type, sessionId, atMs, body }: AnyEvent): void {
    const { name, key, id } = this.#table;
    const run = (body as Readonly<Record<string, unknown>>)[id];
    if (type === 'session.deleted') this.#sql.run(`DELETE FROM ${name} WHERE session_id = ?`, body.sessionId);
    else if (type === this.#started)
      this.#sql.run(`INSERT OR IGNORE INTO ${name} (${key}, session_id, started_at_ms) VALUES (?, ?, ?)`, run, sessionId, atMs);
    else if (type === this.#finished) this.#sql.run(`UPDATE ${name} SET is_open = 0 WHERE ${key} = ?`, run);
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
