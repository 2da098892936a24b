// Statements that are prepared with their first use: most parts of the program are not used in most runs. Nothing else differs from the
// database itself. A wrong statement fails at its first use instead of at the start.

import type { SqlDatabase, SqlStatement } from './storage.ts';

export function withLazyStatements(db: SqlDatabase): SqlDatabase {
  const prepare = (sql: string): SqlStatement => new LazyStatement(db, sql) as unknown as SqlStatement;
  return Object.create(db, { prepare: { value: prepare } }) as SqlDatabase;
}

class LazyStatement {
  readonly #db: SqlDatabase;
  readonly #sql: string;
  #prepared: SqlStatement | null = null;
  #isPlucked = false;

  constructor(db: SqlDatabase, sql: string) {
    this.#db = db;
    this.#sql = sql;
  }

  get #statement(): SqlStatement {
    if (this.#prepared !== null) return this.#prepared;
    const statement = this.#db.prepare(this.#sql);
    if (this.#isPlucked) statement.pluck();
    return (this.#prepared = statement);
  }

  /** As the statement's own: at the place where it is made. */
  pluck(): this {
    this.#isPlucked = true;
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
