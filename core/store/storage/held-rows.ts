// Whether a table was ever written to, in memory: a feature that has nothing asks the database nothing. It says yes from the first row on,
// also when all rows are gone again.

import type Database from 'better-sqlite3';

export class HeldRows {
  #any: boolean;

  constructor(db: Database.Database, table: string) {
    this.#any = db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
  }

  get any(): boolean {
    return this.#any;
  }

  /** Called with every insert; a transaction that is rolled back only costs a question too many. */
  put(): void {
    this.#any = true;
  }
}
