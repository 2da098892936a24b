// Caches in memory whether a table has ever contained rows, so that unused features need no queries. Stays true even if all rows are
// deleted again.

import type Database from 'better-sqlite3';

export class HeldRows {
  #any: boolean;

  constructor(db: Database.Database, table: string) {
    this.#any = db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
  }

  get any(): boolean {
    return this.#any;
  }

  /** Called with every insert. If the transaction is rolled back, the only cost is a needless query. */
  put(): void {
    this.#any = true;
  }
}
