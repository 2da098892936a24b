// Caches statements by their text, so that a query can be written where its result is read. Each is prepared on first use and kept: every
// owner uses a fixed set of texts.

import type Database from 'better-sqlite3';

export class Statements {
  readonly #db: Pick<Database.Database, 'prepare'>;
  readonly #whole = new Map<string, Database.Statement>();
  readonly #plucked = new Map<string, Database.Statement>();

  constructor(db: Pick<Database.Database, 'prepare'>) {
    this.#db = db;
  }

  run(sql: string, ...values: unknown[]): Database.RunResult {
    return this.prepare(sql).run(...values);
  }

  row<Row>(sql: string, ...values: unknown[]): Row | undefined {
    return this.prepare(sql).get(...values) as Row | undefined;
  }

  rows<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.prepare(sql).all(...values) as Row[];
  }

  /** Returns the first column of the first row. */
  value<Value>(sql: string, ...values: unknown[]): Value | undefined {
    return this.#pluckedOf(sql).get(...values) as Value | undefined;
  }

  /** Returns the first column of every row. */
  values<Value>(sql: string, ...values: unknown[]): Value[] {
    return this.#pluckedOf(sql).all(...values) as Value[];
  }

  /** For long texts, and for texts used in a loop. */
  prepare(sql: string): Database.Statement {
    const known = this.#whole.get(sql);
    if (known !== undefined) return known;
    const made = this.#db.prepare(sql);
    this.#whole.set(sql, made);
    return made;
  }

  #pluckedOf(sql: string): Database.Statement {
    const known = this.#plucked.get(sql);
    if (known !== undefined) return known;
    const made = this.#db.prepare(sql).pluck();
    this.#plucked.set(sql, made);
    return made;
  }
}
