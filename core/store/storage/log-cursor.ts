// A named row that stores how far a reader of the log has read.

import { Statements } from './statements.ts';
import type Database from 'better-sqlite3';

const put = 'INSERT INTO projection_cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq';

export class LogCursor {
  readonly #sql: Statements;
  readonly #name: string;

  constructor(db: Pick<Database.Database, 'prepare'>, name: string) {
    this.#sql = new Statements(db);
    this.#name = name;
  }

  /** Undefined before the first move. */
  get seq(): number | undefined {
    return this.#sql.value<number>('SELECT seq FROM projection_cursors WHERE name = ?', this.#name);
  }

  moveTo(seq: number): void {
    this.#sql.run(put, this.#name, seq);
  }
}
