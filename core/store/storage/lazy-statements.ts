// Statements that are prepared with their first use: most parts of the program are not used in most runs. Nothing else differs from the
// database itself. A wrong statement fails at its first use instead of at the start.

import type Database from 'better-sqlite3';

export function withLazyStatements(db: Database.Database): Database.Database {
  const prepare = (sql: string): Database.Statement => new LazyStatement(db, sql) as unknown as Database.Statement;
  return Object.create(db, { prepare: { value: prepare } }) as Database.Database;
}

class LazyStatement {
  readonly #db: Database.Database;
  readonly #sql: string;
  #prepared: Database.Statement | null = null;
  #form: 'pluck' | 'raw' | null = null;

  constructor(db: Database.Database, sql: string) {
    this.#db = db;
    this.#sql = sql;
  }

  get #statement(): Database.Statement {
    if (this.#prepared !== null) return this.#prepared;
    const statement = this.#db.prepare(this.#sql);
    if (this.#form !== null) statement[this.#form]();
    return (this.#prepared = statement);
  }

  pluck(): this {
    return this.#give('pluck');
  }

  raw(): this {
    return this.#give('raw');
  }

  #give(form: 'pluck' | 'raw'): this {
    this.#form = form;
    this.#prepared?.[form]();
    return this;
  }

  run(...values: unknown[]): unknown {
    return this.#statement.run(...values);
  }

  get(...values: unknown[]): unknown {
    return this.#statement.get(...values);
  }

  all(...values: unknown[]): unknown {
    return this.#statement.all(...values);
  }

  iterate(...values: unknown[]): unknown {
    return this.#statement.iterate(...values);
  }
}
